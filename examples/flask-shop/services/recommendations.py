"""The recommendations: what goes well with what, as far as there is any left."""

import os

import requests
from flask import Flask, request

STOCK_URL = os.environ["STOCK_URL"]
GOES_WITH = {"teapot": ["tray", "kettle"], "cup": ["tray"]}
TIMEOUT = 1  # seconds; less than the shop waits for us

app = Flask(__name__)


@app.get("/suggestions")
def suggestions():
    found = {also for sku in request.args.getlist("sku") for also in GOES_WITH.get(sku, [])}
    return sorted(found - sold_out())


def sold_out():
    """Nothing if stock cannot tell: better one suggestion too many than none."""
    try:
        reply = requests.get(f"{STOCK_URL}/items", timeout=TIMEOUT)
        reply.raise_for_status()
        return {sku for sku, left in reply.json().items() if left == 0}
    except requests.RequestException:
        return set()


@app.get("/health")
def health():
    return "ok"
