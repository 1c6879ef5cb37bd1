"""Orders, then looks at the home page, and fails at the end if the order was refused."""

import os
import sys
import urllib.error
import urllib.request

shop = os.environ["SHOP_URL"]


def ask(path, method):
    request = urllib.request.Request(shop + path, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


ordered = ask("/orders", "POST")
assert ask("/", "GET") == 200
if ordered != 200:
    sys.exit(f"the order was answered {ordered}")
