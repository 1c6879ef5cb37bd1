"""A worker thread without context: python3 service.py NAME PORT [URLS OF THE SERVICES IT CALLS].

`booking` asks `rooms` for every booking and every list, and puts a mail on a
queue for each booking. A thread sends them by itself, after a random time: no
two runs have the mails at the same place.
"""

import queue
import random
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
mails = queue.Queue()


def ask(url, body=None):
    with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=10) as answer:
        return answer.read()


def send_mails():
    while True:
        mail = mails.get()
        time.sleep(random.choice([0, 0.02, 0.06, 0.12]))
        try:
            ask(callees[1] + "/messages", mail)
        except OSError:
            mails.put(mail)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status = 200
        if name == "booking":
            # Long enough for a mail to be sent meanwhile.
            time.sleep(0.03)
            try:
                ask(callees[0] + "/free")
            except OSError:
                status = 500
            if self.path.startswith("/book/"):
                mails.put(self.path.encode())
        self.send_response(status)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, *_):
        pass


if name == "booking":
    threading.Thread(target=send_mails, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
