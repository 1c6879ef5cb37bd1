"""A shop that asks for a price: python3 shop.py PORT URL_OF_PRICES.

It knows nothing of Murphy: where the price comes from, which proxy is used and
who is trusted is told by its arguments and by the variables that every client
of Python reads.
"""

import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

prices = sys.argv[2]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status = 200
        try:
            with urllib.request.urlopen(prices + "/prices/tea", timeout=5) as answer:
                body = answer.read()
        except OSError as error:
            status, body = 500, str(error).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
