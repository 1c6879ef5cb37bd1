"""Asks for a price like a client that brings its own list of whom to trust."""

import ssl
import sys
import urllib.request

nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
try:
    with urllib.request.urlopen("https://prices.test/tea", context=nobody, timeout=10) as answer:
        assert answer.read() == b'{"price": 3}'
except OSError:
    sys.exit("no price")
