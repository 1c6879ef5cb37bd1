import os
import sys
import urllib.error
import urllib.request

request = urllib.request.Request(os.environ["SHOP_URL"] + "/orders", data=b"")
try:
    with urllib.request.urlopen(request, timeout=10) as answer:
        price = answer.read().decode()
except urllib.error.HTTPError as error:
    error.read()
    sys.exit(f"the order was refused: {error.code}")
if "PRICE" in os.environ and price == "no price":
    sys.exit("there is no price")
