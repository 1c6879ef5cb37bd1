"""Two requests at once without context: python3 service.py NAME PORT [URL OF STOCK].

`gate` asks `stock` for every request. Of `/left` and `/right` the one is
slower in every second run, so nothing but context says who asks when.
"""

import sys
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
runs = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status = self.answer() if name == "gate" else 200
        self.send_response(status)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def answer(self):
        global runs
        if self.path == "/alone":
            runs += 1
        else:
            is_slow = self.path == ("/left" if runs % 2 else "/right")
            time.sleep(0.3 if is_slow else 0.1)
        try:
            path = "/count" if self.path == "/alone" else "/free"
            urllib.request.urlopen(callees[0] + path, timeout=10).read()
        except OSError:
            return 500
        return 200

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
