"""A service that hands on no trace context: python3 service.py ROLE HOW PORT [URLS].

`desk` asks `rates` for an item, and fails where that fails; `rates` and `mail`
only answer. HOW `desk` asks:

  fixed    it asks rates for /item
  varying  it asks rates for another path each time, which is no usual id
  later    it asks rates for /item; 150 ms after the answer it has mail sent
"""

import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

role, how, port, *urls = sys.argv[1:]


def ask(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        # A body that nobody reads looks like a caller that gave up.
        error.read()
        raise


def send_mail():
    time.sleep(0.15)
    try:
        ask(urls[1] + "/send")
    except OSError:
        pass


def quote():
    item = "item"
    if how == "varying":
        item = "items/sku-" + uuid.uuid4().hex[:8]
    body = ask(urls[0] + "/" + item)
    if how == "later":
        threading.Thread(target=send_mail, daemon=True).start()
    return body


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            status, body = 200, quote() if role == "desk" else b"1"
        except OSError:
            status, body = 500, b"no"
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
