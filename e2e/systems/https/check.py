"""Asks the shop for a price."""

import os
import sys
import urllib.request

try:
    with urllib.request.urlopen(os.environ["SHOP"] + "/tea", timeout=10) as answer:
        assert answer.read() == b'{"price": 3}'
except OSError as error:
    sys.exit(f"no price: {error}")
