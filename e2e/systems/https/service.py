"""A shop that asks for prices over HTTP, and prices that answer over HTTPS.

python3 service.py shop PORT URL_OF_PRICES
python3 service.py prices PORT CERTIFICATE [who may ask: a file of authorities]
"""

import ssl
import sys
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

name, port, *rest = sys.argv[1:]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, body = 200, b'{"price": 3}'
        if name == "shop":
            try:
                with urllib.request.urlopen(rest[0] + "/prices/tea", timeout=5) as answer:
                    body = answer.read()
            except OSError:
                status, body = 500, b"no price"
        self.send_response(status)
        # The names that it was called by.
        self.send_header("asked-as", self.headers["host"])
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
if name == "prices" and rest[0] != "plain":
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"certs/{rest[0]}.pem", f"certs/{rest[0]}.key")
    if rest[1:]:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(rest[1])
    server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
