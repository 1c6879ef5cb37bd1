"""A service of a page with fallbacks: python3 service.py NAME PORT [URLS OF THE SERVICES IT CALLS].

`catalog` answers 200 with no items where `prices` fails. `front` suggests the
first item where `cart` fails, and breaks if there is none: only the two
failures together show it, and by status alone no service sees anything new.
"""

import json
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]


def ask(url, headers):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(url, headers=context)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read())
    except urllib.error.HTTPError as error:
        error.read()
        raise


def answer(headers):
    if name == "catalog":
        try:
            ask(callees[0] + "/prices", headers)
        except OSError:
            return {"items": []}
        return {"items": ["a book"]}
    if name == "front":
        catalog, cart = callees
        try:
            items = ask(catalog + "/items", headers)["items"]
        except OSError:
            return {"page": "try again later"}
        try:
            return {"page": items, "cart": ask(cart + "/cart", headers)}
        except OSError:
            return {"page": items, "suggested": items[0]}
    return {"name": name}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            status, body = 200, answer(self.headers)
        except IndexError:
            status, body = 500, {"error": "list index out of range"}
        body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
