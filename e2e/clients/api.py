"""Prices over HTTPS or gRPC: python api.py http|grpc PORT."""

import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

kind, port = sys.argv[1:]
certificate, key = "../systems/https/certs/prices.pem", "../systems/https/certs/prices.key"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b'{"price": 3}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    def finish_request(self, request, client_address):
        request.settimeout(10)
        try:
            request = context.wrap_socket(request, server_side=True)
        except OSError:
            return
        super().finish_request(request, client_address)


def grpc_server():
    from concurrent.futures import ThreadPoolExecutor

    import grpc

    class Prices(grpc.GenericRpcHandler):
        def service(self, call):
            return grpc.unary_unary_rpc_method_handler(lambda request, _: request)

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((Prices(),))
    with open(key, "rb") as private, open(certificate, "rb") as public:
        credentials = grpc.ssl_server_credentials([(private.read(), public.read())])
    server.add_secure_port(f"127.0.0.1:{port}", credentials)
    server.start()
    server.wait_for_termination()


if kind == "grpc":
    grpc_server()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
Server(("127.0.0.1", int(port)), Handler).serve_forever()
