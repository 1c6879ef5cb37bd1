import os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Cart(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-length", "4")
        self.end_headers()
        self.wfile.write(b"book")

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Cart).serve_forever()
