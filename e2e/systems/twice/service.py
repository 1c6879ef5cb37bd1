"""A service of a shop that looks twice: python3 service.py NAME PORT [URL OF THE CART].

`shop` asks `cart` for the same thing twice. It does without the first answer,
and breaks without the second. Context is handed on.
"""

import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *cart = sys.argv[1:]


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


def answer(headers):
    if name == "cart":
        return b"a book"
    try:
        ask(cart[0] + "/cart", headers)
    except OSError:
        pass
    return ask(cart[0] + "/cart", headers)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            status, body = 200, answer(self.headers)
        except OSError:
            status, body = 500, b"no"
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
