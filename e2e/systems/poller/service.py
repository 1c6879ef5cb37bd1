"""A worker that polls without context: python3 service.py NAME PORT [URLS OF THE SERVICES IT CALLS].

Every 0.15 s `notify` asks `booking` for what was booked, which takes a while,
and sends a mail for each booking. Meanwhile `booking` serves `gate` as well:
no two runs have the worker's calls at the same place, and it never stops.
"""

import json
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *callees = sys.argv[1:]
booked = []


def ask(url, body=None):
    with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=10) as answer:
        return answer.read()


def work():
    booking, mail = callees
    while True:
        time.sleep(0.15)
        try:
            for number in json.loads(ask(booking + "/pending")):
                ask(mail + "/messages", json.dumps(number).encode())
        except OSError:
            pass


def gate(path):
    rooms, booking = callees
    if path == "/list":
        ask(booking + "/bookings")
    else:
        ask(rooms + "/free")
        ask(booking + "/reserve", b"{}")


def booking(path):
    if path == "/pending":
        time.sleep(0.1)
        found = list(booked)
        booked.clear()
        return found
    time.sleep(0.05)
    if path == "/reserve":
        ask(callees[0] + "/price")
        booked.append(1)
    return "ok"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, result = 200, "ok"
        try:
            if name == "gate":
                gate(self.path)
            elif name == "booking":
                result = booking(self.path)
        except OSError:
            status = 500
        body = json.dumps(result).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.do_GET()

    def log_message(self, *_):
        pass


if name == "notify":
    threading.Thread(target=work, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()
