"""A service of a small shop: python3 service.py NAME PORT [URL OF A CALLEE [HEADER]].

`shop` posts an order to `orders`, and once more if that answers 5xx, as client
libraries do. `orders` stores the order and then tells `mail`; what mail
answers is what it answers itself. An order that it knows is refused with 409,
which `shop` takes for a success; any other error is a 502 of its own. An order
is known by the trace it came with.

With HEADER, `shop` sends a key in it, the same with both attempts, and
`orders` goes on with an order that comes again with a key. A HEADER of the form
`field:NAME` is a field of the JSON body instead.
"""

import json
import sys
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *rest = sys.argv[1:]
callee, header = (rest + ["", ""])[:2]
field = header.removeprefix("field:") if header.startswith("field:") else None
orders = set()


def post(url, headers, key=None):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    body = b"a book"
    if key and field:
        body = json.dumps({"item": "a book", field: key}).encode()
    elif key:
        context[header] = key
    request = urllib.request.Request(url, body, context, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 502


def take_order(headers, body):
    order = headers["traceparent"].split("-")[1]
    key = json.loads(body).get(field) if field else header and headers[header]
    if order in orders and not key:
        return 409
    orders.add(order)
    return post(callee + "/mails", headers)


def shop(headers, _):
    key = str(uuid.uuid4()) if header else None
    status = post(callee + "/orders", headers, key)
    if status >= 500:
        status = post(callee + "/orders", headers, key)
    return 200 if status in (200, 409) else 502


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        steps = {"shop": shop, "orders": take_order}
        status = steps[name](self.headers, body) if name in steps else 200
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
