"""The cart: what each customer is about to buy. Prices are in cents."""

from flask import Flask, abort

CARTS = {
    "ada": [
        {"sku": "teapot", "quantity": 1, "price": 3200},
        {"sku": "cup", "quantity": 4, "price": 450},
    ],
    "grace": [{"sku": "cup", "quantity": 2, "price": 450}],
    "alan": [{"sku": "kettle", "quantity": 1, "price": 4900}],
}

app = Flask(__name__)


@app.get("/carts/<customer>")
def cart(customer):
    if customer not in CARTS:
        abort(404)
    return {"items": CARTS[customer]}


@app.get("/health")
def health():
    return "ok"
