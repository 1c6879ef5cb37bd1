"""A service of a small shop: python3 service.py NAME PORT [URLS OF CALLEES].

`shop` answers `POST /orders` by asking `stock` and then `prices`. Without `stock` it refuses with 503; `POST /drafts` goes on
without it instead, asks `prices` for an item called "None", and leaves the price out if that fails. `prices` crashes on that
item: that is the bug. `GET /slow` asks `stock` again half a second later if it fails the first time; otherwise it takes 0.2 s.
"""

import sys
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]


def ask(url, headers):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(url, headers=context)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()
    except OSError:
        return None


def order(headers):
    stock, prices = callees
    item = ask(stock + "/item", headers)
    if item is None:
        return 503, "no stock"
    return 200, ask(f"{prices}/price?of={item}", headers) or "no price"


def draft(headers):
    stock, prices = callees
    item = ask(stock + "/item", headers)
    return 200, ask(f"{prices}/price?of={item}", headers) or "no price"


def slow(headers):
    stock, _ = callees
    time.sleep(0.2)
    if ask(stock + "/item", headers) is None:
        time.sleep(0.5)
        ask(stock + "/item", headers)
    return 200, "at last"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        steps = {"/orders": order, "/drafts": draft, "/slow": slow}
        if name == "shop":
            step = steps.get(self.path)
            status, body = step(self.headers) if step else (200, "welcome")
        elif name == "prices" and self.path.endswith("None"):
            status, body = 500, "KeyError: None"
        else:
            status, body = 200, name
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
