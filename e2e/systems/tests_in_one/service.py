"""A service of a shop: python3 service.py NAME PORT [URLS OF PAYMENT AND STOCK].

The shop keeps an order once it is paid, and asks the stock for every order that
it lists. It hands on context.
"""

import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
ORDERS = []


def ask(url, headers):
    context = {key: headers[key] for key in ("traceparent", "tracestate", "baggage") if key in headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=context), timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_DELETE(self):
        ORDERS.clear()
        self.say(200)

    def do_POST(self):
        if ask(callees[0] + "/charge", self.headers) != 200:
            return self.say(500)
        ORDERS.append("a book")
        self.say(200)

    def do_GET(self):
        for _ in ORDERS if name == "shop" else []:
            ask(callees[1] + "/items", self.headers)
        self.say(200)

    def say(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
