"""Every cloud at once: a success without content for any request. python cloud.py PORT."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


def success(headers, request):
    """The content type and body that say the least to an SDK."""
    if "x-amz-target" in headers:
        return "application/x-amz-json-1.0", b"{}"
    if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        [action] = parse_qs(request.decode())["Action"]
        return "text/xml", f"<{action}Response><{action}Result/></{action}Response>".encode()
    if "dataserviceversion" in headers or "x-goog-api-client" in headers:
        return "application/json", b'{"value": []}'
    return "application/xml", b'<?xml version="1.0"?><Nothing/>'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        request = self.rfile.read(int(self.headers.get("content-length", 0)))
        kind, body = success(self.headers, request)
        self.send_response(201 if self.command == "PUT" else 200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.send_header("last-modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        self.send_header("etag", '"1"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
