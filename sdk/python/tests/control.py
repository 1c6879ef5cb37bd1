"""Murphy's side of the worker protocol, as small as it can be, and a project whose pytest talks to it.

The only double in these tests: the plugin, pytest and the HTTP clients are real.
"""

import json
import os
import queue
import socket
import subprocess
import sys
import textwrap
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PLUGIN = Path(__file__).resolve().parent.parent
TOKEN = "secret-of-this-run"


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # clients that are killed


class Control:
    def __init__(self):
        self.orders, self.results, self.phases, self.listed = queue.Queue(), {}, {}, queue.Queue()
        self.arrived = threading.Condition()
        self.poll, self.refuse_result, self.refuse_tests, self.connections, self.asked = 20, {}, None, [], []
        control = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self, status, body=None):
                text = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                if status != 204:
                    self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def handle_any(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
                if self.headers["Authorization"] != "Bearer " + TOKEN:
                    return self.answer(401)
                assert not self.headers.get("traceparent"), "the control connection carries no trace context"
                assert not any(name.lower().startswith("x-murphy-") for name in self.headers), "and no site"
                self.answer(*control.handle(self.command, self.path, body))

            do_GET = do_POST = do_PUT = handle_any

            def setup(self):
                super().setup()
                control.connections.append(self.connection)

            def log_message(self, *args):
                pass

        self.server = QuietServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def handle(self, method, path, body):
        if path == "/v1/worker/next?worker=0":
            try:
                return 200, self.orders.get(timeout=self.poll)
            except queue.Empty:
                return (204,)
        if path == "/v1/worker/tests?worker=0":
            status = self.refuse_tests
            self.refuse_tests = None
            if status is None:
                self.listed.put(body)
            return (204,) if status is None else (status, {"error": "as the test wants it"})
        if path == "/v1/worker/result?worker=0":
            status = self.refuse_result.pop(body["execution"], 204)
            with self.arrived:
                if status == 204:
                    self.results[body["execution"]] = body
                self.arrived.notify_all()
            return (status,) if status == 204 else (status, {"error": "as the test wants it"})
        if method == "PUT" and path.startswith("/v1/executions/") and path.endswith("/phase"):
            self.phases.setdefault(path.split("/")[3], []).append(body["name"])
            return 200, {"in_flight": 0, "armed": body["name"] == "call"}
        if method == "GET" and path.startswith("/v1/executions/"):
            phase = (self.phases.get(path.split("/")[3]) or [None])[-1]
            self.asked.append(phase)
            return 200, {"phase": phase}
        return 404, {"error": path}

    def close(self):
        """As when Murphy is killed: the port is closed, and so is every connection."""
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # closed already


class Worker:
    """A real pytest over files of a test, started as Murphy starts it."""

    def __init__(self, tmp_path, files, args=(), env=None):
        self.control, self.number, self.directory = Control(), 0, tmp_path / "project"
        for name, text in files.items():
            file = self.directory / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text))
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MURPHY_", "COV_"))}
        environment.update(PYTHONPATH=str(PLUGIN), PYTHONDONTWRITEBYTECODE="1")
        environment.update(MURPHY_CONTROL_URL=self.control.url, MURPHY_TOKEN=TOKEN, MURPHY_WORKER="0")
        environment.update(env or {})
        self.printed = tmp_path / "printed.txt"
        command = [sys.executable, "-m", "pytest", "-p", "murphy_worker", "-p", "no:cacheprovider", *args]
        with self.printed.open("wb") as out:
            self.process = subprocess.Popen(command, cwd=str(self.directory), env=environment, stdout=out, stderr=out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.control.close()

    def list(self):
        self.control.orders.put({"do": "list", "unknown": [1]})
        return self.until(lambda: self.control.listed.get_nowait(), queue.Empty)

    def ids(self):
        return [test["id"] for test in self.list()["tests"]]

    def order(self, test, **more):
        self.number += 1
        execution = "e%d" % self.number
        self.control.orders.put(
            {"do": "run", "execution": execution, "test": test, "phases": ["call"], "timeout_ms": 60000, "unknown": {"a": 1}, **more}
        )
        return execution

    def run(self, test, **more):
        execution = self.order(test, **more)
        with self.control.arrived:
            end = time.monotonic() + 60
            while execution not in self.control.results:
                self.control.arrived.wait(0.1)
                assert self.process.poll() is None, "the worker ended: " + self.output()
                assert time.monotonic() < end, "no result in 60 s: " + self.output()
            result = self.control.results.pop(execution)
        result["phases"] = self.control.phases.pop(execution, [])
        return result

    def until(self, attempt, error):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                return attempt()
            except error:
                assert self.process.poll() is None, "the worker ended: " + self.output()
                time.sleep(0.005)
        raise AssertionError("nothing in 60 s: " + self.output())

    def stop(self):
        self.control.orders.put({"do": "stop"})
        return self.process.wait(30)

    def output(self):
        return self.printed.read_text(errors="replace")

    def memory(self):
        """Resident memory, in KiB."""
        for line in Path("/proc/%d/status" % self.process.pid).read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])

    def threads(self):
        return len(os.listdir("/proc/%d/task" % self.process.pid))
