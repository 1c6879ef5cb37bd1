"""The shop: turns a customer's cart into a placed order.

Answers 201 with the order, 409 if something is sold out, or 502 if a service
that is needed for the order cannot be reached.
"""

import os

import requests
from flask import Flask, request

CART_URL = os.environ["CART_URL"]
STOCK_URL = os.environ["STOCK_URL"]
PAYMENT_URL = os.environ["PAYMENT_URL"]
RECOMMENDATIONS_URL = os.environ["RECOMMENDATIONS_URL"]
TIMEOUT = 2  # seconds

app = Flask(__name__)


class Unavailable(Exception):
    """A service that the order needs did not do its part."""


class SoldOut(Exception):
    """There is not enough of something in the cart."""


@app.post("/checkout")
def checkout():
    customer = request.json["customer"]
    items = cart_of(customer)
    total = sum(item["price"] * item["quantity"] for item in items)
    reservation = reserve(items)
    charge(customer, total)
    return {
        "status": "placed",
        "items": items,
        "total": total,
        "reservation": reservation,
        "suggestions": suggestions(items),
    }, 201


def cart_of(customer):
    try:
        reply = requests.get(f"{CART_URL}/carts/{customer}", timeout=TIMEOUT)
        reply.raise_for_status()
        return reply.json()["items"]
    except requests.RequestException as error:
        raise Unavailable("cart") from error


def reserve(items):
    """Has the items set aside; returns where the reservation is found."""
    wanted = {item["sku"]: item["quantity"] for item in items}
    try:
        reply = requests.post(f"{STOCK_URL}/reservations", json=wanted, timeout=TIMEOUT)
    except requests.RequestException as error:
        raise Unavailable("stock") from error
    if reply.status_code == 409:
        raise SoldOut
    return reply.headers.get("Location")


def charge(customer, amount):
    bill = {"customer": customer, "amount": amount}
    try:
        requests.post(f"{PAYMENT_URL}/charges", json=bill, timeout=TIMEOUT).raise_for_status()
    except requests.RequestException as error:
        raise Unavailable("payment") from error


def suggestions(items):
    """What goes well with the items: nice to have, not worth losing an order."""
    skus = [item["sku"] for item in items]
    reply = requests.get(
        f"{RECOMMENDATIONS_URL}/suggestions", params={"sku": skus}, timeout=TIMEOUT
    )
    return reply.json() if reply.ok else []


@app.errorhandler(Unavailable)
def unavailable(error):
    return {"error": f"{error} is unavailable, nothing was ordered"}, 502


@app.errorhandler(SoldOut)
def sold_out(_):
    return {"error": "sold out, nothing was ordered"}, 409


@app.get("/health")
def health():
    return "ok"
