"""A service of a small shop: python3 service.py NAME PORT [URL OF A CALLEE [HEADER]].

`shop` posts an order to `orders`, and once more if that answers 5xx, as client
libraries do. `orders` stores the order and then tells `mail`; what mail
answers is what it answers itself. An order that it knows is refused with 409,
which `shop` takes for a success; any other error is a 502 of its own. An order
is known by the trace it came with.

With HEADER, `shop` sends a key in it, the same with both attempts, and
`orders` goes on with an order that comes again with a key.
"""

import sys
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *rest = sys.argv[1:]
callee, header = (rest + ["", ""])[:2]
orders = set()


def post(url, headers, key=None):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    if key:
        context[header] = key
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
    if order in orders and not (header and headers[header]):
        return 409
    orders.add(order)
    return post(callee + "/mails", headers)


def shop(headers):
    key = str(uuid.uuid4()) if header else None
    status = post(callee + "/orders", headers, key)
    if status >= 500:
        status = post(callee + "/orders", headers, key)
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
