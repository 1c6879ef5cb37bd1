"""Trace context on the calls that the test makes itself, seen by a real HTTP server."""

import json
import threading
from http.server import BaseHTTPRequestHandler

import pytest
from control import QuietServer

HEADERS = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "murphy=e1", "baggage": "murphy=e1"}

CLIENTS = """
    import asyncio, http.client, os, threading, urllib.parse, urllib.request, pytest
    URL = os.environ["SERVER"]
    PLACE = urllib.parse.urlsplit(URL).netloc

    def test_http_client():
        connection = http.client.HTTPConnection(PLACE)
        connection.request("POST", "/http.client", b"body"); connection.getresponse().read()
        connection.request("GET", "/http.client"); connection.getresponse().read()

    def test_urllib(): urllib.request.urlopen(URL + "/urllib").read()

    def test_urllib3():
        import urllib3
        urllib3.PoolManager().request("GET", URL + "/urllib3")

    def test_requests():
        import requests
        requests.post(URL + "/requests", json={"a": 1})

    def test_httpx():
        import httpx
        httpx.get(URL + "/httpx")
        with httpx.Client() as client: client.get(URL + "/httpx")

    def test_httpx_async():
        import httpx
        async def go():
            async with httpx.AsyncClient() as client: await client.get(URL + "/httpx_async")
        asyncio.run(go())

    def test_aiohttp():
        import aiohttp
        async def go():
            async with aiohttp.ClientSession(headers={"x-own": "1"}) as session:
                async with session.get(URL + "/aiohttp") as answer: await answer.read()
                async with session.get(URL + "/aiohttp", headers=[("x-other", "2")]) as answer: await answer.read()
        asyncio.run(go())

    def test_threads():
        threads = [threading.Thread(target=test_urllib) for _ in range(3)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()

    @pytest.fixture
    def called():
        test_urllib()
        yield
        test_urllib()
    def test_phases(called): test_urllib()

    def test_own_headers():
        own = {"Traceparent": "own", "TraceState": "own=1", "BAGGAGE": "own=2"}
        urllib.request.urlopen(urllib.request.Request(URL + "/own", headers=own)).read()
        import requests, httpx, aiohttp
        requests.get(URL + "/own", headers=own); httpx.get(URL + "/own", headers=own)
        with httpx.Client(headers=own) as client: client.get(URL + "/own")
        async def go():
            async with aiohttp.ClientSession(headers=own) as session: await session.get(URL + "/own")
            async with aiohttp.ClientSession() as session: await session.get(URL + "/own", headers=own)
        asyncio.run(go())

    def test_environment():
        names = ("TRACEPARENT", "TRACESTATE", "BAGGAGE", "MURPHY_EXECUTION", "MURPHY_FAULTS")
        print("ENV", {name: os.environ.get(name) for name in names})

    waiting = threading.Event()
    def test_leaves_a_thread():
        def later():
            waiting.wait()
            test_urllib()
        threading.Thread(target=later, daemon=True).start()
    def test_between(): waiting.set()
"""


@pytest.fixture
def server():
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append((self.path, {name.lower(): self.headers.get_all(name) for name in self.headers}))
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_POST = do_GET

        def log_message(self, *args):
            pass

    seen, server = [], QuietServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    server.seen, server.url = seen, "http://127.0.0.1:%d" % server.server_address[1]
    yield server
    server.shutdown()


@pytest.mark.parametrize(
    "client, calls",
    [("http_client", 2), ("urllib", 1), ("urllib3", 1), ("requests", 1), ("httpx", 2), ("httpx_async", 1), ("aiohttp", 2), ("threads", 3), ("phases", 3)],
)
@pytest.mark.parametrize("imported", ["when the test runs", "before"])
def test_calls_carry_the_headers_of_the_execution(start, server, client, calls, imported):
    files = {"test_it.py": CLIENTS}
    if imported == "before":
        files["conftest.py"] = "import requests, httpx, aiohttp"
    worker = start(files, env={"SERVER": server.url})
    for run in range(2):
        headers = dict(HEADERS, tracestate="murphy=e%d" % run)
        server.seen.clear()
        result = worker.run("test_it.py::test_" + client, headers=headers)
        assert result["outcome"] == "passed", result
        assert len(server.seen) == calls
        for _, seen in server.seen:
            assert {name: seen.get(name) for name in headers} == {name: [value] for name, value in headers.items()}


def test_headers_that_the_test_sets_are_left_alone(start, server):
    worker = start(CLIENTS, env={"SERVER": server.url})
    result = worker.run("test_it.py::test_own_headers", headers=HEADERS)
    assert result["outcome"] == "passed", result
    assert len(server.seen) == 6
    for _, seen in server.seen:
        assert (seen["traceparent"], seen["tracestate"], seen["baggage"]) == (["own"], ["own=1"], ["own=2"])


def test_variables_are_set_for_the_execution_only(start, server):
    worker = start(CLIENTS, env={"SERVER": server.url})
    for faults in (["cart GET /cart = 503"], []):
        result = worker.run("test_it.py::test_environment", headers=HEADERS, faults=faults)
        printed = next(line for line in result["output"].splitlines() if line.startswith("ENV "))
        values = json.loads(printed[4:].replace("'[", "[").replace("]'", "]").replace("'", '"'))
        assert values == {
            "TRACEPARENT": HEADERS["traceparent"],
            "TRACESTATE": "murphy=e1",
            "BAGGAGE": "murphy=e1",
            "MURPHY_EXECUTION": result["execution"],
            "MURPHY_FAULTS": faults,
        }
        assert result["changed"] == []
    result = worker.run("test_it.py::test_environment")
    assert "'TRACEPARENT': None" in result["output"], "headers of an earlier execution"


def test_no_header_where_murphy_sends_none(start, server):
    worker = start(CLIENTS, env={"SERVER": server.url})
    worker.run("test_it.py::test_requests", headers=HEADERS)
    server.seen.clear()
    assert worker.run("test_it.py::test_requests")["outcome"] == "passed"
    assert "traceparent" not in server.seen[0][1]
