import os

CART_URL = os.environ["CART_URL"]
stock = "http://{}:{}".format(
    os.environ.get("STOCK_SERVICE_HOST", "localhost"),
    os.environ.get("STOCK_SERVICE_PORT", "5002"),
)
PAGE_URL = "https://example.com"
