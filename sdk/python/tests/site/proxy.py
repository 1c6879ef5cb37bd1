"""A proxy between the clients under test and a real service: it records, passes on, or lets a call fail, as Murphy's does."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler

from control import QuietServer

DIALECTS = {
    "s3": ("application/xml", {"x-amz-request-id": "murphy-1"}, "<Error><Code>ServiceUnavailable</Code><Message>m</Message><RequestId>murphy-1</RequestId></Error>"),
    "dynamodb": ("application/x-amz-json-1.0", {"x-amzn-RequestId": "murphy-1"}, '{"__type":"com.amazon.coral.availability#ServiceUnavailableException","message":"m"}'),
    "azure": (
        "application/xml",
        {"x-ms-error-code": "ServerBusy", "x-ms-request-id": "murphy-1", "x-ms-version": "2021-12-02"},
        '<?xml version="1.0" encoding="utf-8"?><Error><Code>ServerBusy</Code><Message>m</Message></Error>',
    ),
    "gcs": (
        "application/json",
        {"x-guploader-uploadid": "murphy-1"},
        '{"error":{"code":503,"message":"m","errors":[{"domain":"global","reason":"backendError"}]}}',
    ),
}


class Request:
    def __init__(self, handler, body):
        self.method, self.path, self.body = handler.command, handler.path, body
        self.all = [(name.lower(), value) for name, value in handler.headers.items()]
        self.murphy = {name[len("x-murphy-") :]: value for name, value in self.all if name.startswith("x-murphy-")}
        self.headers = {name: value for name, value in self.all if not name.startswith("x-murphy-")}
        self.status = None


class Proxy:
    """`plan` says what becomes of the next requests: `pass`, `lost`, `hang`, `503`; what follows them is passed on."""

    def __init__(self, upstream=None, dialect="s3"):
        self.upstream, self.dialect, self.plan, self.rest, self.seen = upstream, dialect, [], "pass", []
        self.released, self.lock = threading.Event(), threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def any_method(self):
                proxy.handle(self)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = do_MERGE = any_method

            def log_message(self, *args):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = "http://127.0.0.1:%d" % self.port
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def begin(self, *plan, rest="pass"):
        self.released.set()
        self.released = threading.Event()
        self.seen, self.plan, self.rest = [], list(plan), rest

    def handle(self, handler):
        request = Request(handler, read_body(handler))
        with self.lock:
            self.seen.append(request)
            action = self.plan.pop(0) if self.plan else self.rest
        if action == "503":
            kind, headers, text = DIALECTS[self.dialect]
            return answer(handler, 503, dict(headers, **{"Content-Type": kind}), text.encode())
        status, headers, body = self.forward(request)
        request.status = status
        if action == "hang":
            self.released.wait(60)
            handler.close_connection = True
        elif action == "lost":
            assert request.murphy.get("raises") == "timeout", "only where the client said that it can"
            answer(handler, 504, {"x-murphy-lost": "timeout"}, b"")
        else:
            answer(handler, status, headers, body)

    def forward(self, request):
        if self.upstream is None:
            return 200, {}, b"ok"
        connection = http.client.HTTPConnection("127.0.0.1", self.upstream, timeout=30)
        headers = {name: value for name, value in request.headers.items() if name not in ("transfer-encoding", "connection", "expect")}
        headers["content-length"] = str(len(request.body))
        connection.request(request.method, request.path, request.body, headers)
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        kept = {name: value for name, value in reply.getheaders() if name.lower() not in ("transfer-encoding", "connection", "keep-alive")}
        return reply.status, kept, body

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def read_body(handler):
    if handler.headers.get("Transfer-Encoding", "").lower() != "chunked":
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    body = b""
    while True:
        size = int(handler.rfile.readline().split(b";")[0], 16)
        body += handler.rfile.read(size)
        handler.rfile.readline()
        if size == 0:
            return body


def answer(handler, status, headers, body):
    handler.send_response_only(status)
    for name, value in headers.items():
        if name.lower() != "content-length" or handler.command == "HEAD":
            handler.send_header(name, value)
    if handler.command != "HEAD":
        handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(body)
