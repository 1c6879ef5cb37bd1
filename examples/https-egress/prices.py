"""Prices over HTTPS, as a partner's API would have them: python3 prices.py PORT."""

import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b'{"price": 3}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    """Shakes hands in the thread of a connection, so that none waits for another."""

    def finish_request(self, request, client_address):
        request.settimeout(10)
        try:
            request = context.wrap_socket(request, server_side=True)
        except OSError:
            return
        super().finish_request(request, client_address)


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("certs/prices.pem", "certs/prices.key")
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
