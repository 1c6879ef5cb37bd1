"""A service of a small shop: python3 service.py NAME PORT [URL OF THE CART].

`shop` asks `cart`. It does without where that answers 500, and answers 502
where it answers any other error: half of a bug is fixed.
"""

import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *cart = sys.argv[1:]
FIXED = (500,)


def ask(url, headers):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(url, headers=context)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, items = 200, "a book"
        if name == "shop":
            try:
                items = ask(cart[0] + "/cart", self.headers)
            except urllib.error.HTTPError as error:
                if error.code not in FIXED:
                    status = 502
                items = "nothing"
        body = items.encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
