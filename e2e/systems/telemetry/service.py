"""Failures are reported with a time stamp: python3 service.py NAME PORT [URLS OF THE SERVICES IT CALLS].

`front` asks `cart` and `stock`, does without either, and tells `events` of
every failure, with the time at which it happened: no two bodies are alike.
"""

import json
import sys
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]


def ask(url, headers, body=None):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(url, headers=context, data=body)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        error.read()
        raise


def page(headers):
    cart, stock, events = callees
    for url in (cart + "/cart", stock + "/stock"):
        try:
            ask(url, headers)
        except OSError:
            event = {"what": url.rsplit("/", 1)[1], "at": time.time_ns()}
            try:
                ask(events + "/events", headers, json.dumps(event).encode())
            except OSError:
                pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if name == "front":
            page(self.headers)
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
