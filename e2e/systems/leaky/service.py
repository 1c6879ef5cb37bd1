"""A service of a shop that forgets to unlock: python3 service.py NAME PORT [URLS].

`shop` locks the basket, asks `price` and then `stock`. Where `price` fails it
answers 200 without a price, as it should, but leaves the lock behind: every
later request is refused, whatever it is about. `stock` has a fallback.
With KEEP in the environment the lock is a file, which outlives the process.
"""

import os
import pathlib
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
kept = pathlib.Path("locked") if "KEEP" in os.environ else None
locked = False


def is_locked():
    return kept.exists() if kept else locked


def lock(on):
    global locked
    locked = on
    if kept and on:
        kept.write_text("")
    elif kept:
        kept.unlink(missing_ok=True)


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
    if is_locked():
        return 500, b"locked"
    lock(True)
    price, stock = callees
    try:
        body = ask(price + "/price", headers)
    except OSError:
        return 200, b"no price"
    try:
        ask(stock + "/stock", headers)
    except OSError:
        body = b"sold out"
    lock(False)
    return 200, body


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
