"""A service of a small shop: python3 service.py NAME PORT [URL OF A CALLEE].

`shop` posts an order to `orders`, and once more if that answers 5xx, as client
libraries do. `orders` stores the order and then tells `mail`; what mail
answers is what it answers itself. An order that it knows is refused with 409,
which `shop` takes for a success; any other error is a 502 of its own. An order is known by the trace it came with.
"""

import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callee = sys.argv[1:]
orders = set()


def post(url, headers):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(url, b"a book", context, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 502


def take_order(headers):
    order = headers["traceparent"].split("-")[1]
    if order in orders:
        return 409
    orders.add(order)
    return post(callee[0] + "/mails", headers)


def shop(headers):
    status = post(callee[0] + "/orders", headers)
    if status >= 500:
        status = post(callee[0] + "/orders", headers)
    return 200 if status in (200, 409) else 502


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        steps = {"shop": shop, "orders": take_order}
        status = steps[name](self.headers) if name in steps else 200
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
