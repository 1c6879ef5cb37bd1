"""A customer checks out. The shop to test is at SHOP_URL."""

import os

import requests

SHOP_URL = os.environ["SHOP_URL"]


def test_checkout_places_the_whole_order_or_says_why_not():
    reply = requests.post(f"{SHOP_URL}/checkout", json={"customer": "ada"}, timeout=10)

    if reply.status_code == 502:
        assert "nothing was ordered" in reply.json()["error"]
        return

    assert reply.status_code == 201, f"neither an order nor a clear refusal but {reply.status_code}"
    order = reply.json()
    assert order["status"] == "placed"
    assert [item["sku"] for item in order["items"]] == ["teapot", "cup"]
    assert order["total"] == 5000
    assert order["reservation"], "the order is placed, but nothing was set aside for it"
