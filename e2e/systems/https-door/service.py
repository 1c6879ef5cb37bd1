"""A shop that asks for a price and for the stock, on one connection as long as that stays open.

python3 service.py shop PORT URL_OF_PRICES
python3 service.py prices PORT
"""

import http.client
import os
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

name, port, *rest = sys.argv[1:]


def order():
    place = urlsplit(rest[0])
    trust = ssl.create_default_context()
    if os.environ.get("CARELESS"):
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    # Opens the connection anew where it was closed after an answer.
    prices = http.client.HTTPSConnection(place.hostname, place.port, timeout=5, context=trust)
    for path in ("/price", "/stock"):
        try:
            prices.request("GET", path)
            prices.getresponse().read()
        except ssl.SSLCertVerificationError as error:
            return 500, f"{path}: {error.verify_message}"
        except OSError:
            return 500, f"{path}: no connection"
    return 200, "ordered"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, text = order() if name == "shop" else (200, "3")
        body = text.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
