"""Asks for a price; it trusts whom its environment names, or else this machine."""

import sys
import urllib.request

try:
    urllib.request.urlopen("https://prices.test/tea", timeout=10).read()
except OSError:
    sys.exit("no price")
