"""The stock: what is on the shelves, and what is set aside for an order.

A reservation is numbered but not taken off the shelf, so the thousandth
checkout meets the same stock as the first.
"""

import itertools

from flask import Flask, request

ON_SHELF = {"teapot": 40, "cup": 300, "tray": 25, "kettle": 0}

app = Flask(__name__)
numbers = itertools.count(1)


@app.get("/items")
def items():
    return ON_SHELF


@app.post("/reservations")
def reserve():
    wanted = request.json
    if any(quantity > ON_SHELF.get(sku, 0) for sku, quantity in wanted.items()):
        return {"error": "not enough on the shelf"}, 409
    return {"reserved": wanted}, 201, {"Location": f"/reservations/{next(numbers)}"}


@app.get("/health")
def health():
    return "ok"
