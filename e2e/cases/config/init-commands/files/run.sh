uvicorn services.cart.main:app --port 7002 &
flask --app stock run -p 7003 &
wait
