"""A shop that does without prices: python3 service.py NAME PORT [URL OF PRICES].

It takes its time, so that a campaign does.
"""

import sys
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]


def ask(url, headers):
    context = {key: headers[key] for key in ("traceparent", "tracestate") if key in headers}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=context), timeout=10) as answer:
            answer.read()
    except urllib.error.HTTPError as error:
        error.read()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        for url in callees:
            time.sleep(1)
            for sku in ("one", "two", "three", "four", "five", "six"):
                ask(f"{url}/{sku}", self.headers)
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
