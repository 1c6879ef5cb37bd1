"""Wants the cart whatever happens, and talks about it."""

import os
import sys
import urllib.request

print("one\ntwo\nthree")
with urllib.request.urlopen(os.environ["MURPHY_SHOP_URL"] + "/") as answer:
    items = answer.read().decode()
print("got:", items)
if items != "a book":
    print("error: the cart is gone")
    sys.exit(1)
