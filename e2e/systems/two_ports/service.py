"""One process, two services: python3 service.py PORT OTHER [URL OF THE OTHER].

At PORT it is `public`, which asks `api` and does without where that fails; at
OTHER, a moment later, it is `api` itself.
"""

import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, other, api = sys.argv[1:]


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body):
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(b"fine")

    def log_message(self, *_):
        pass


class Public(Api):
    def do_GET(self):
        context = {
            key: self.headers[key]
            for key in ("traceparent", "tracestate", "baggage")
            if key in self.headers
        }
        request = urllib.request.Request(api + "/items", headers=context)
        try:
            body = urllib.request.urlopen(request, timeout=10).read()
        except OSError:
            body = b"nothing"
        self.answer(body)


public = ThreadingHTTPServer(("127.0.0.1", int(port)), Public)
threading.Thread(target=public.serve_forever).start()
time.sleep(0.3)
ThreadingHTTPServer(("127.0.0.1", int(other)), Api).serve_forever()
