"""A shop that asks for a price and for the stock, on one connection as long as that stays open.

python3 service.py shop PORT URL_OF_PRICES
python3 service.py prices PORT
"""

import http.client
import ssl
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

name, port, *rest = sys.argv[1:]


def connection(is_careless=False):
    """Is opened anew where it was closed after an answer."""
    place = urlsplit(rest[0])
    trust = ssl.create_default_context()
    if is_careless:
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(place.hostname, place.port, timeout=5, context=trust)


def get(prices, path):
    """What went wrong, if anything did."""
    try:
        prices.request("GET", path)
        prices.getresponse().read()
    except ssl.SSLCertVerificationError as error:
        return f"{path}: {error.verify_message}"
    except OSError:
        return f"{path}: no connection"


def order(path):
    if path == "/at-once":
        with ThreadPoolExecutor() as threads:
            wrong = list(threads.map(lambda path: get(connection(), path), ("/price", "/stock")))
    else:
        prices = connection(is_careless=path == "/careless")
        wrong = [get(prices, "/price")]
        wrong += [] if any(wrong) else [get(prices, "/stock")]
    wrong = [text for text in wrong if text]
    return (500, ", ".join(wrong)) if wrong else (200, "ordered")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if name == "prices":
            # Calls at once are seen to be.
            time.sleep(0.05)
        status, text = order(self.path) if name == "shop" else (200, "3")
        body = text.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
