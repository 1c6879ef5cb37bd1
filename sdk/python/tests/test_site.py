"""The site library where it is loaded: by the worker, by sitecustomize.py, in child processes and under unittest.

Needs no SDK: a plain server says which headers came. What SDKs make of it is tested in site/.
"""

import os
import re
import subprocess
import sys
import textwrap
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote

import pytest
from control import PLUGIN, QuietServer

APPLICATION = """
    import os, urllib.request

    def fetch(path):
        return urllib.request.urlopen(os.environ["SERVER"] + path, timeout=5).read()

    def load(path): return fetch(path)
"""

TESTS = """
    import pytest, sys, unittest
    import app

    @pytest.fixture(scope="module")
    def wider():
        app.load("/wider")
        yield
        app.load("/wider-end")

    @pytest.fixture
    def own():
        app.load("/own")
        yield
        app.load("/own-end")

    def test_phases(wider, own): app.load("/call")
    def test_other(): app.load("/other")
    def test_late(request):
        request.getfixturevalue("wider")
        app.load("/late")
    def test_assert(): assert app.load("/a") == b"other"
    def test_error(): app.load("/503")

    class TestCase(unittest.TestCase):
        def setUp(self): app.load("/setUp")
        def tearDown(self): app.load("/tearDown")
        def test_equal(self): self.assertEqual(app.load("/equal"), b"other")

    def test_environment():
        import os
        assert (os.environ.get("MURPHY_TEST"), os.environ.get("MURPHY_TEST_PHASE")) == ("test_it.py::test_environment", "call")
"""


@pytest.fixture
def server():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, {name.lower()[len("x-murphy-") :]: unquote(value) for name, value in self.headers.items() if name.startswith("x-murphy-")}))
            self.send_response(503 if self.path == "/503" else 200)
            self.send_header("x-request-id", "murphy-7")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *args):
            pass

    seen, server = [], QuietServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    server.seen, server.url = seen, "http://127.0.0.1:%d" % server.server_address[1]
    yield server
    server.shutdown()


@pytest.fixture
def worker(start, server, tmp_path):
    return start({"app.py": APPLICATION, "test_it.py": TESTS}, env={"SERVER": server.url, "MURPHY_SITE": "1", "MURPHY_PROJECT": str(tmp_path / "0" / "project")})


def phases(seen):
    return [(path, headers["phase"]) for path, headers in seen]


def test_phases_of_fixtures(worker, server):
    assert worker.run("test_it.py::test_phases")["outcome"] == "passed"
    assert phases(server.seen) == [("/wider", "setup(wider)"), ("/own", "setup(function)"), ("/call", "call"), ("/own-end", "teardown")]
    del server.seen[:]
    assert worker.run("test_it.py::test_phases", fresh_fixtures=True)["changed"] == []
    assert phases(server.seen)[-1] == ("/wider-end", "teardown")
    del server.seen[:]
    assert worker.run("test_it.py::test_late")["outcome"] == "passed"
    assert phases(server.seen) == [("/wider", "setup(wider)"), ("/late", "call")]


def test_phases_of_unittest_within_pytest(worker, server):
    result = worker.run("test_it.py::TestCase::test_equal")
    assert phases(server.seen) == [("/setUp", "setup(function)"), ("/equal", "call"), ("/tearDown", "teardown")]
    assert {headers["test"] for _, headers in server.seen} == {"test_it.py::TestCase::test_equal"}
    line = 1 + [line.strip() for line in TESTS.splitlines()].index('def test_equal(self): self.assertEqual(app.load("/equal"), b"other")')
    assert result["assertion"] == {"file": "test_it.py", "line": line, "text": "b'ok' != b'other'"}


def test_site_stack_and_line(worker, server):
    worker.run("test_it.py::test_other")
    ((_, headers),) = server.seen
    assert headers["site"] == "app.py:5:fetch" and headers["stack"] == "app.py:5:fetch < app.py:7:load"
    assert re.fullmatch(r"test_it.py:\d+", headers["line"]) and headers["pid"] == headers["call"].split("-")[0]


def test_results(worker, server):
    result = worker.run("test_it.py::test_assert")
    assert result["assertion"]["file"] == "test_it.py" and "b'ok' == b'other'" in result["assertion"]["text"]
    result = worker.run("test_it.py::test_error")
    (error,) = result["exceptions"]
    assert (error["status"], error["request_id"], error["injected"], result["assertion"]) == (503, "murphy-7", False, None)
    assert re.fullmatch(r"test_it.py:\d+:test_error", error["frames"][0]) and error["frames"][1:3] == ["app.py:7:load", "app.py:5:fetch"]
    assert re.fullmatch(r"urllib/request.py:\d+:http_error_default", error["frames"][-1])


def test_variables_for_child_processes(worker):
    for _ in range(2):
        result = worker.run("test_it.py::test_environment")
        assert (result["outcome"], result["changed"]) == ("passed", []), result


def test_nothing_changes_without_the_variable(start, server):
    worker = start({"app.py": APPLICATION, "test_it.py": TESTS}, env={"SERVER": server.url})
    result = worker.run("test_it.py::test_assert")
    assert server.seen == [("/a", {})]
    assert "assertion" not in result and [set(one) for one in result["exceptions"]] == [{"type", "message"}]


def python(tmp_path, server, *args, files=(), **variables):
    for name, text in dict(files or {"app.py": APPLICATION}).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MURPHY_", "COV_"))}
    environment.update({"PYTHONPATH": str(PLUGIN), "MURPHY_SITE": "1", "MURPHY_PROJECT": str(tmp_path), "SERVER": server.url, "PYTHONDONTWRITEBYTECODE": "1"})
    environment.update(variables)
    done = subprocess.run([sys.executable, *args], cwd=str(tmp_path), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


UNITTEST = """
    import unittest, app

    class Store(unittest.TestCase):
        @classmethod
        def setUpClass(cls): app.load("/class")
        def setUp(self): app.load("/setUp")
        def test_one(self): app.load("/one")
        def tearDown(self): app.load("/tearDown")

    class Asynchronous(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self): app.load("/asyncSetUp")
        async def test_two(self): app.load("/two")
"""


def test_unittest_alone(tmp_path, server):
    code, _, errors = python(tmp_path, server, "-m", "unittest", "suite", files={"app.py": APPLICATION, "suite.py": UNITTEST})
    assert code == 0, errors
    booked = {path: (headers.get("test"), headers["phase"], headers.get("stack")) for path, headers in server.seen}
    stack = "app.py:5:fetch < app.py:7:load"
    assert booked == {
        "/asyncSetUp": ("suite.Asynchronous.test_two", "setup(function)", stack),
        "/two": ("suite.Asynchronous.test_two", "call", stack),
        "/class": (None, "none", stack),
        "/setUp": ("suite.Store.test_one", "setup(function)", stack),
        "/one": ("suite.Store.test_one", "call", stack),
        "/tearDown": ("suite.Store.test_one", "teardown", stack),
    }


def test_pytest_alone(tmp_path, server):
    files = {"app.py": APPLICATION, "test_it.py": TESTS}
    python(tmp_path, server, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_phases", files=files)
    assert phases(server.seen) == [("/wider", "setup(wider)"), ("/own", "setup(wider)"), ("/call", "call"), ("/own-end", "teardown"), ("/wider-end", "teardown")]
    assert {headers["stack"] for _, headers in server.seen} == {"app.py:5:fetch < app.py:7:load"}


def test_a_hidden_sitecustomize_is_loaded_too(tmp_path, server):
    other = {"other/sitecustomize.py": "import sys\nsys.hidden = __file__", "app.py": APPLICATION}
    paths = os.pathsep.join([str(PLUGIN), str(tmp_path / "other")])
    for site in ("1", ""):
        code, out, errors = python(tmp_path, server, "-c", "import sys; print(sys.hidden, 'murphy_site' in sys.modules)", files=other, PYTHONPATH=paths, MURPHY_SITE=site)
        assert (code, out.split(), errors) == (0, [str(tmp_path / "other" / "sitecustomize.py"), str(site == "1")], "")


def test_no_client_is_imported(tmp_path, server):
    script = "import sys; print([name for name in ('http.client', 'asyncio', 'unittest', 'concurrent.futures', 'socket') if name in sys.modules])"
    assert python(tmp_path, server, "-c", script) == (0, "[]\n", "")


def test_loaded_twice_it_adds_its_headers_once(tmp_path, server):
    script = (
        "import importlib.util as u, murphy_site\n"
        "spec = u.spec_from_file_location('second', murphy_site.__file__); second = u.module_from_spec(spec); spec.loader.exec_module(second)\n"
        "second.install(); murphy_site.install()\n"
        "import app; app.load('/twice')"
    )
    code, _, errors = python(tmp_path, server, "-c", script)
    assert (code, errors) == (0, "")
    assert [path for path, _ in server.seen] == ["/twice"] and server.seen[0][1]["stack"] == "app.py:5:fetch < app.py:7:load"


BROKEN = {
    "app.py": APPLICATION,
    "urllib3/__init__.py": "    from urllib3 import connectionpool",
    "urllib3/connectionpool.py": "    pass",
}


def test_a_patch_that_fails_warns_once_and_lets_the_test_run(tmp_path, server):
    code, _, errors = python(tmp_path, server, "-c", "import urllib3, app; app.load('/a'); app.load('/b')", files=BROKEN)
    assert code == 0 and len(server.seen) == 2
    assert errors.count("murphy:") == 1 and "calls by urllib3.connectionpool are not followed: AttributeError" in errors


def test_a_header_that_fails_warns_once_and_lets_the_test_run(tmp_path, server):
    script = "import murphy_site, app\nmurphy_site._stack = None\napp.load('/a'); app.load('/b')"
    code, _, errors = python(tmp_path, server, "-c", script)
    assert code == 0 and [headers for _, headers in server.seen] == [{}, {}]
    assert errors.count("murphy:") == 1 and "a request carries no site" in errors


def test_installed_packages_are_no_application_unless_named(tmp_path, server):
    package = {"lib/site-packages/kept.py": "import app\ndef keep(): app.load('/kept')", "app.py": APPLICATION}
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/site-packages").mkdir()
    for named in ("", "kept", str(tmp_path / "lib/site-packages")):
        del server.seen[:]
        script = "import sys; sys.path.append('lib/site-packages'); import kept; kept.keep()"
        code, _, errors = python(tmp_path, server, "-c", script, files=package, MURPHY_APP=named)
        assert code == 0, errors
        assert server.seen[0][1]["stack"] == "app.py:5:fetch < app.py:7:load" + (" < kept.py:2:keep" if named else "")


def test_frames_are_counted_off(tmp_path, server):
    deep = {"app.py": APPLICATION, "deep.py": "import app\ndef down(n): return down(n - 1) if n else app.load('/deep')"}
    python(tmp_path, server, "-c", "import deep; deep.down(50)", files=deep)
    assert len(server.seen[0][1]["stack"].split(" < ")) == 6


def test_a_child_acts_for_the_test_of_its_parent(tmp_path, server):
    python(tmp_path, server, "-c", "import app; app.load('/child')", MURPHY_TEST="tests/x.py::test_a", MURPHY_TEST_PHASE="call")
    assert (server.seen[0][1]["test"], server.seen[0][1]["phase"]) == ("tests/x.py::test_a", "call")


def test_debug(tmp_path, server):
    _, _, errors = python(tmp_path, server, "-c", "import app; app.load('/a')", MURPHY_SITE_DEBUG="1")
    assert errors.startswith("murphy: request ") and "x-murphy-call" not in errors and "'call'" in errors
