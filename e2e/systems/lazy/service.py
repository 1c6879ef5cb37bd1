"""A service of a shop that signs in once: python3 service.py NAME PORT [URLS].

`shop` asks `auth` for a token when it first needs one and keeps it; then it asks
`cart`. It gets over a failing `cart`, but not over a failing `auth`: that is the
bug, and it shows only after a start.
"""

import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
token = None


def ask(url, headers):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(url, headers=context)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        error.read()
        raise


def buy(headers):
    global token
    auth, cart = callees
    try:
        token = token or ask(auth + "/token", headers)
    except OSError:
        return 500, b"no token"
    try:
        return 200, ask(cart + "/cart", headers)
    except OSError:
        return 200, b"nothing"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, body = buy(self.headers) if name == "shop" else (200, b"fine")
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
