"""A service of a shop with a race: python3 service.py NAME PORT [URL OF THE CART].

`shop` asks `cart`; where that fails it looks the items up by itself, for half a
second, in a place that only one request at a time may use: a second one is
answered with 500. Context is handed on.
"""

import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *cart = sys.argv[1:]
lookup = threading.Lock()


def ask(url, headers):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(url, headers=context)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def look_up():
    if not lookup.acquire(blocking=False):
        return 500, "in use"
    time.sleep(0.5)
    lookup.release()
    return 200, "a book, looked up"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, items = 200, "a book"
        if name == "shop":
            try:
                items = ask(cart[0] + "/cart", self.headers)
            except (urllib.error.URLError, OSError):
                status, items = look_up()
        body = items.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
