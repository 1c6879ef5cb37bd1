import os

CART = os.environ["CART_URL"]
DATABASE = os.environ["DATABASE_URL"]
STOCK = "http://127.0.0.1:7103"
