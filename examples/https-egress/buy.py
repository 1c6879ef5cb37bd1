"""The test: a shop names the price, or says 503. python3 buy.py URL_OF_SHOP"""

import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1] + "/buy", timeout=10) as answer:
    assert answer.read() == b'{"price": 3}'
