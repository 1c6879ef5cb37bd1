"""What customers get for what is in their carts."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def open_shop(shop):
    """Asked once for all tests of this file."""
    assert shop.is_up()


@pytest.mark.parametrize("customer, total", [("ada", 5000), ("grace", 900)])
def test_the_total_is_that_of_the_cart(shop, is_refused, customer, total):
    reply = shop.checkout(customer)
    if not is_refused(reply):
        assert reply.status_code == 201
        assert reply.json()["total"] == total


def test_suggestions_are_optional(shop, is_refused):
    reply = shop.checkout("grace")
    if not is_refused(reply):
        assert reply.status_code == 201, f"an answer of {reply.status_code} for want of suggestions"
        assert set(reply.json()["suggestions"]) <= {"tray"}


def test_what_is_sold_out_is_not_sold(shop, is_refused):
    reply = shop.checkout("alan")
    assert is_refused(reply) or reply.status_code == 409, f"sold what there is none of: {reply.text}"


def test_an_unknown_customer_orders_nothing(shop, is_refused):
    assert is_refused(shop.checkout("nobody"))


def test_the_shop_is_up(shop):
    assert shop.is_up()
