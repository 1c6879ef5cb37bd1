"""A service that hands on no trace context: python3 service.py ROLE HOW PORT [URLS].

`desk` asks `rates` for an item, and fails where that fails. `hall` asks all its
URLs at once, each a moment after the last, and fails where one does. The others
only answer. HOW:

  fixed    desk asks rates for /item
  varying  desk asks rates for another path each time, which is no usual id
  later    desk asks rates for /item; 150 ms after the answer it has mail sent
  50, 200  it takes so many milliseconds before it does anything
"""

import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
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


def ask_all():
    with ThreadPoolExecutor() as pool:
        answers = []
        for url in urls:
            answers.append(pool.submit(ask, url))
            time.sleep(0.02)
        return b"".join(answer.result() for answer in answers)


def answer():
    if how.isdigit():
        time.sleep(int(how) / 1000)
    if role == "hall":
        return ask_all()
    return quote() if role == "desk" else b"1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        try:
            status, body = 200, answer()
        except OSError:
            status, body = 500, b"no"
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
