"""Sells what is in the cart. Without a cart it crashes: that is the bug."""

import os
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

CART_URL = os.environ.get("CART_URL", "http://localhost:5001/items")


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        keys = ("traceparent", "tracestate", "baggage")
        context = {key: self.headers[key] for key in keys if key in self.headers}
        request = urllib.request.Request(CART_URL, headers=context)
        try:
            body = urllib.request.urlopen(request, timeout=10).read()
            status = 200
        except OSError:
            body, status = b"oops", 500
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Shop).serve_forever()
