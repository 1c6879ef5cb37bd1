"""A service on a port that nobody knows before: python3 service.py NAME [URL OF THE CART]. Prints its port.

`shop` needs the cart at /cart, and does without it at /soft. With HANDS_ON in the environment it hands on trace context.
"""

import os
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, *callees = sys.argv[1:]


def ask_cart(headers):
    known = ("traceparent", "tracestate", "baggage") if "HANDS_ON" in os.environ else ()
    request = urllib.request.Request(callees[0] + "/items", headers={key: headers[key] for key in known if key in headers})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        # A body that nobody reads looks like a caller that gave up.
        error.read()
    except OSError:
        pass
    return 500, b"no cart"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, body = ask_cart(self.headers) if name == "shop" else (200, b"a book")
        if self.path == "/soft" and status != 200:
            status, body = 200, b"empty"
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
