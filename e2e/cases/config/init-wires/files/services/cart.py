import os

stock = os.getenv("STOCK_ADDR", "localhost:5002")
port = os.environ["CART_PORT"]
