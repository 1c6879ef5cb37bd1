"""A service of a shop that waits for a job: python3 service.py NAME PORT [URLS].

`shop` asks `jobs` for its state until it is done, and then tells `mail`, which
may fail. A job takes two questions or three, in turn.
"""

import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
job = {"number": 0, "left": 2}


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


def state():
    job["left"] -= 1
    if job["left"] > 0:
        return b"working"
    job["number"] += 1
    job["left"] = 2 + job["number"] % 2
    return b"done"


def buy(headers):
    jobs, mail = callees
    try:
        while ask(jobs + "/state", headers) != b"done":
            pass
    except OSError:
        return b"not done"
    try:
        ask(mail + "/send", headers)
    except OSError:
        return b"no mail"
    return b"bought"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if name == "shop":
            body = buy(self.headers)
        else:
            body = state() if name == "jobs" else b"sent"
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
