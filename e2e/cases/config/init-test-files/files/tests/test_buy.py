import os

SHOP = os.environ["SHOP_URL"]


def test_buy():
    pass
