import os
import urllib.request

CART = "http://127.0.0.1:7002"
STOCK = os.environ["STOCK_URL"]
