import os

BASE = os.environ["SHOP_BASE_URL"]
