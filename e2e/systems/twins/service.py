"""Two equal calls at the same time: python3 service.py NAME PORT [URL OF BACK].

`front` asks `back` twice at once. Where the one call fails it does without;
where the other fails it breaks. Which of them arrives first is luck.
"""

import random
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *back = sys.argv[1:]


def ask(headers):
    context = {
        key: headers[key]
        for key in ("traceparent", "tracestate", "baggage")
        if key in headers
    }
    request = urllib.request.Request(back[0] + "/x", headers=context)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        error.read()
        raise


def both(headers):
    failed = {}

    def site(which):
        try:
            ask(headers)
        except OSError:
            failed[which] = True

    threads = [threading.Thread(target=site, args=(which,)) for which in "ab"]
    random.shuffle(threads)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 500 if "b" in failed else 200


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if name == "back":
            time.sleep(0.02)
        status = both(self.headers) if name == "front" else 200
        self.send_response(status)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
