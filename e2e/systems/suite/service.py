"""A service of a shop: python3 service.py NAME PORT [URL OF THE CART].

`shop` needs the cart at /cart, does without it at /soft, and asks nobody at
/hello. It hands on context, and describes itself.
"""

import json
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
OFFERS = {"paths": {"/cart": {"get": {}}, "/soft": {"get": {}}, "/orders/{id}": {"get": {}, "delete": {}}}}


def ask_cart(headers):
    context = {key: headers[key] for key in ("traceparent", "tracestate", "baggage") if key in headers}
    request = urllib.request.Request(callees[0] + "/items", headers=context)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        # A body that nobody reads looks like a caller that gave up.
        error.read()
        return 500, b"no cart"
    except OSError:
        return 500, b"no cart"


def answer(path, headers):
    if name == "shop" and path == "/openapi.json":
        return 200, json.dumps(OFFERS).encode()
    if name == "shop" and path == "/cart":
        return ask_cart(headers)
    if name == "shop" and path == "/soft":
        status, body = ask_cart(headers)
        return 200, body if status == 200 else b"empty"
    return (200, b"a book") if path in ("/items", "/hello") else (404, b"")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, body = answer(self.path, self.headers)
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
