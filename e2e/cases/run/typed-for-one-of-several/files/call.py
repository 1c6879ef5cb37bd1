"""Fails unless the shop answers 200 with a price, or with the stock alone where that is asked for."""

import os
import sys
import urllib.request

path = sys.argv[2] if sys.argv[1:2] == ["--path"] else "/orders"
request = urllib.request.Request(os.environ["SHOP_URL"] + path, method="POST")
with urllib.request.urlopen(request, timeout=10) as answer:
    sys.exit(answer.read() not in (b"prices", b"welcome"))
