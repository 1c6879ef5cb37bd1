"""A warm pytest: runs one test per execution, when Murphy asks for it.

Murphy loads this file with `-p murphy_worker`; no project has to be edited. It owns the conversation with Murphy (the worker
protocol: docs/guide/worker-protocol.md) and what makes a test repeatable in one process: function-scoped fixtures anew for each
execution, wider ones kept, the environment put back. What a test is and how it runs is left to pytest: every phase goes through
pytest's own hooks. Without MURPHY_CONTROL_URL, MURPHY_TOKEN and MURPHY_WORKER in the environment the plugin does nothing.
With MURPHY_SITE=1 it tells murphy_site.py which test runs, and what that knows of exceptions goes with results.

One file, standard library only: Python 3.9 and newer, pytest 7 to 9.
"""

import copy
import functools
import http.client
import importlib.util
import json
import os
import shutil
import sys
import threading
import time
import unittest
import urllib.parse

import pytest
from _pytest.runner import CallInfo

try:
    from _pytest.skipping import evaluate_skip_marks
except ImportError:  # not in this pytest: skips are then seen when the test runs
    evaluate_skip_marks = None

# What a result holds at most of what a test printed; the end, where the failure is.
OUTPUT_LIMIT = 64 * 1024
# One message of an exception. Bodies of the protocol end at 1 MiB.
MESSAGE_LIMIT = 4 * 1024
# A chain of causes that is longer is cut.
CHAIN_LIMIT = 32
# Murphy answers a long poll after 20 s at the latest.
ANSWER_TIMEOUT = 60
# Threads that are about to end get this long before they count as left behind.
THREAD_GRACE = 0.1
# Says to a pytest that a test starts that the worker with this token is there already. Another Murphy's worker has another token.
TAKEN = "MURPHY_WORKER_TAKEN"
# What tests and tools may vary from one execution to the next without having changed the process.
OWN_VARIABLES = {"PYTEST_CURRENT_TEST", "TRACEPARENT", "TRACESTATE", "BAGGAGE", "MURPHY_EXECUTION", "MURPHY_FAULTS", TAKEN}
# What murphy_site calls the phases; fixtures of a wider scope than the test are told from others as they are set up.
SITE_PHASES = {"setup": "setup(function)", "call": "call", "teardown": "teardown"}
# The library that knows where calls come from, where Murphy asks for it.
_site = None


# ---- trace context: what the test's own calls carry ----

# The headers of the execution that runs; empty between executions.
_headers = {}


class _ControlConnection(http.client.HTTPConnection):
    """The connection to Murphy itself, which carries no trace context."""

    murphy_own = True  # and no site


def _add_to_http_client(module):
    connection = module.HTTPConnection
    original = connection.endheaders

    @functools.wraps(original)
    def endheaders(self, *args, **kwargs):
        if _headers and not isinstance(self, _ControlConnection):
            present = {line.split(b":", 1)[0].strip().lower() for line in self._buffer}
            for name, value in list(_headers.items()):
                if name.lower().encode() not in present:
                    self.putheader(name, value)
        return original(self, *args, **kwargs)

    connection.endheaders = endheaders


def _add_to_httpx(module):
    def add(request):
        for name, value in list(_headers.items()):
            if name not in request.headers:
                request.headers[name] = value

    send, send_async = module.Client.send, module.AsyncClient.send

    @functools.wraps(send)
    def client_send(self, request, *args, **kwargs):
        add(request)
        return send(self, request, *args, **kwargs)

    @functools.wraps(send_async)
    async def async_client_send(self, request, *args, **kwargs):
        add(request)
        return await send_async(self, request, *args, **kwargs)

    module.Client.send, module.AsyncClient.send = client_send, async_client_send


def _add_to_aiohttp(module):
    session = module.ClientSession
    original = session._request

    @functools.wraps(original)
    async def request(self, method, url, *args, headers=None, **kwargs):
        if _headers:
            from multidict import CIMultiDict  # what aiohttp itself is made of

            headers = CIMultiDict(headers or {})
            for name, value in list(_headers.items()):
                if name not in headers and name not in self.headers:
                    headers[name] = value
        return await original(self, method, url, *args, headers=headers, **kwargs)

    session._request = request


class _ClientPatches:
    """Patches HTTP clients when the project imports them, and never imports one."""

    patches = {"httpx": _add_to_httpx, "aiohttp": _add_to_aiohttp}

    def __init__(self):
        self.busy = set()

    def install(self):
        _add_to_http_client(http.client)
        for name in self.patches:
            if name in sys.modules:
                self.apply(name, sys.modules[name])
        sys.meta_path.insert(0, self)

    def apply(self, name, module):
        try:
            self.patches[name](module)
        except Exception as error:  # a version that looks different: the calls are then known by where they enter
            _say("no trace context for calls by %s: %s: %s" % (name, type(error).__name__, error))

    def find_spec(self, name, path=None, target=None):
        if name not in self.patches or name in self.busy:
            return None
        self.busy.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.busy.discard(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                self.apply(name, module)

            spec.loader.exec_module = exec_module
        return spec


# ---- the conversation with Murphy ----


class _Gone(Exception):
    """Murphy ended, or does not talk to this worker any more. Says why."""


class _Refused(Exception):
    def __init__(self, status, text):
        super().__init__("%d %s" % (status, text))
        self.status = status


class _Control:
    """One connection to Murphy, kept open; opened again where the server closed it while a test ran."""

    def __init__(self, url, token, worker):
        parts = urllib.parse.urlsplit(url)
        self.address = (parts.hostname, parts.port or 80)
        self.path = parts.path.rstrip("/")
        self.token, self.worker = token, worker
        self.connection = None

    def next(self):
        """What to do next, or None if there is nothing yet."""
        return self.request("GET", "/v1/worker/next?worker=" + self.worker)

    def tests(self, body):
        self.report("POST", "/v1/worker/tests?worker=" + self.worker, body)

    def result(self, body):
        path = "/v1/worker/result?worker=" + self.worker
        try:
            self.report("POST", path, body)
        except _Refused as refused:
            if refused.status != 413:
                raise
            self.report("POST", path, dict(body, output=body["output"][-1024:], exceptions=body["exceptions"][:1]))

    def phase(self, execution, name):
        self.report("PUT", "/v1/executions/%s/phase" % urllib.parse.quote(execution, safe=""), {"name": name})

    def report(self, method, path, body):
        try:
            self.request(method, path, body)
        except _Refused as refused:
            if refused.status not in (404, 409):  # given up meanwhile: dropped
                raise

    def request(self, method, path, body=None):
        text = None if body is None else json.dumps(_printable(body)).encode()
        reused = self.connection is not None
        try:
            status, answer = self.exchange(method, path, text)
        except (http.client.HTTPException, OSError) as error:
            self.close()
            if not reused:
                raise _Gone("Murphy is gone (%s)" % (error or type(error).__name__)) from error
            return self.request(method, path, body)
        if status == 401:
            raise _Gone("Murphy does not accept MURPHY_TOKEN")
        if status >= 400:
            raise _Refused(status, answer.decode(errors="replace").strip()[:MESSAGE_LIMIT])
        return json.loads(answer) if answer else None

    def exchange(self, method, path, text):
        if self.connection is None:
            self.connection = _ControlConnection(*self.address, timeout=ANSWER_TIMEOUT)
        headers = {"Authorization": "Bearer " + self.token}
        if text is not None:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, self.path + path, text, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _printable(value):
    """The value with texts that are valid Unicode: half a surrogate pair is no JSON."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _printable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_printable(inner) for inner in value]
    return value


def _say(text):
    try:
        os.write(2, ("murphy: %s\n" % text).encode(errors="replace"))
    except OSError:
        pass


# ---- what a test left changed in the process ----


class _ProcessState:
    """Working directory, environment and threads: as they were before the test, and as its wider fixtures made them."""

    def __init__(self):
        self.directory, self.environment, self.threads = _directory(), _environment(), set(threading.enumerate())
        self.by_fixture = {}

    def begin(self):
        """Before an execution: what is there now is how it shall be afterwards."""
        self.directory, self.environment, self.threads = _directory(), _environment(), set(threading.enumerate())

    def around(self, fixture):
        """Set-up of a fixture that lives longer than the test: what it changes is meant to stay."""
        before, directory, threads = _environment(), _directory(), set(threading.enumerate())
        yield
        after = _environment()
        names = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        self.take_over(names, after)
        moved = _directory() != directory
        if moved:
            self.directory = _directory()
        self.threads |= set(threading.enumerate()) - threads
        self.by_fixture[fixture] = (names, moved)

    def ended(self, fixture):
        """Tear-down of such a fixture: what it put back is meant to be so."""
        names, moved = self.by_fixture.pop(fixture, ((), False))
        self.take_over(names, _environment())
        if moved:
            self.directory = _directory()

    def take_over(self, names, source):
        for name in names:
            if name in source:
                self.environment[name] = source[name]
            else:
                self.environment.pop(name, None)

    def put_back(self):
        """Puts back what can be, and says what was changed."""
        changed = []
        if self.directory is not None and _directory() != self.directory:
            changed.append("working directory")
            try:
                os.chdir(self.directory)
            except OSError as error:
                changed.append("working directory could not be put back: %s" % error)
        now = _environment()
        names = sorted(name for name in now.keys() | self.environment.keys() if now.get(name) != self.environment.get(name))
        for name in names:
            if name in self.environment:
                os.environ[name] = self.environment[name]
            else:
                os.environ.pop(name, None)
        if names:
            changed.append("environment: " + ", ".join(names))
        threads = self.threads_left()
        if threads:
            changed.append("threads: %d" % threads)
        return changed

    def threads_left(self):
        until = time.monotonic() + THREAD_GRACE
        left = 0
        for thread in set(threading.enumerate()) - self.threads:
            thread.join(max(0.0, until - time.monotonic()))
            left += thread.is_alive()
        return left


def _environment():
    return {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES and not (_site and name.startswith("MURPHY_TEST"))}


def _directory():
    try:
        return os.getcwd()
    except OSError:  # deleted under our feet
        return None


# ---- the worker ----


class _Worker:
    """Takes over pytest's loop over the tests: Murphy says which one runs, and how often."""

    def __init__(self, config, control):
        self.config, self.control = config, control
        self.pid = os.getpid()
        self.problems = []
        self.items = {}
        self.previous = None
        self.state = None
        self.current = None
        self.stopped = False

    # -- hooks

    def pytest_collectreport(self, report):
        if report.failed:
            text = str(report.longreprtext)
            errors = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
            lines = errors or [line.strip() for line in text.splitlines() if line.strip()] or ["cannot be collected"]
            self.problems.append("%s: %s" % (report.nodeid or "collection", lines[-1][:MESSAGE_LIMIT]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if session.config.option.collectonly:
            return None
        # It runs failed tests again by itself; under Murphy a failure is an answer.
        if session.config.pluginmanager.has_plugin("rerunfailures"):
            session.config.pluginmanager.unregister(name="rerunfailures")
        # Registered last, so that no other plugin's way to run a test comes first.
        session.config.pluginmanager.register(_RunOneTest(self), "murphy-run-one-test")
        self.session = session
        self.state = _ProcessState()
        for item in session.items:
            self.items.setdefault(_unique(item.nodeid, self.items), item)
        if _site:
            _site.add_test_files(self.test_files())
        self.limit_captured_output()
        try:
            self.serve()
        except (_Gone, _Refused) as reason:
            if os.getpid() != self.pid:
                os._exit(1)
            _say("%s: ending pytest" % reason)
        return True

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session):
        yield
        # What failed under a fault is Murphy's to judge.
        session.exitstatus = 0 if self.stopped else 1

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef):
        if self.state is None or fixturedef.scope == "function":
            yield
            return
        before = _site and _site.set_phase("setup(wider)")
        try:
            yield from self.state.around(fixturedef)
        finally:
            if _site:
                _site.set_phase(before)

    def pytest_fixture_post_finalizer(self, fixturedef):
        if self.state is not None and fixturedef.scope != "function":
            self.state.ended(fixturedef)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, call):
        if self.current is not None:
            self.current.last_error = call.excinfo

    def pytest_runtest_logreport(self, report):
        # Only subtests report by themselves: what runs a test here does not log.
        if self.current is not None and report.failed:
            self.current.subtest_failed(report)

    # -- the loop

    def serve(self):
        while True:
            order = self.control.next()
            if order is None:
                continue
            do = order.get("do")
            if do == "stop":
                self.stopped = True
                return
            if do == "list":
                self.control.tests(self.listing())
            elif do == "run":
                self.control.result(self.run(order))
            else:
                raise _Gone("Murphy asks for `%s`, which this worker does not know" % do)

    def test_files(self):
        """What was collected, and the plugins of the project: all that is no application."""
        files = {str(item.path if hasattr(item, "path") else item.fspath) for item in self.items.values()}
        root = str(self.config.rootpath) + os.sep
        for plugin in self.config.pluginmanager.get_plugins():
            file = getattr(plugin, "__file__", None)
            if isinstance(file, str) and file.startswith(root):
                files.add(file)
        return files

    def listing(self):
        return {
            "runner": "pytest " + pytest.__version__,
            "tests": [self.entry(name, item) for name, item in self.items.items()],
            "problems": self.problems,
        }

    def entry(self, name, item):
        file, line, _ = item.location
        return {"id": name, "file": file, "line": None if line is None else line + 1, "skip": _skip_reason(item)}

    def run(self, order):
        """One execution, from the first fixture to a process that is as before."""
        item = self.items.get(order["test"])
        self.current = execution = _Execution(self, item, order)
        if item is None:
            return execution.failed("error", "setup", "no test `%s` was collected" % order["test"])
        begun = time.monotonic()
        self.begin(order)
        if _site:
            _site.begin_test(order["test"])
        try:
            execution.announce("setup")
            result = execution.run(self.leave_previous(item))
        finally:
            _headers.clear()
            if _site:
                _site.end_test()
            if os.getpid() != self.pid:
                os._exit(1)  # a child that the test forked came back
            for name in OWN_VARIABLES - {TAKEN}:
                os.environ.pop(name, None)
            self.current = None
        self.previous = item
        result["changed"] = self.state.put_back()
        result["took_ms"] = round((time.monotonic() - begun) * 1000)
        self.forget(item)
        return result

    def begin(self, order):
        headers = {str(name): str(value) for name, value in (order.get("headers") or {}).items()}
        # Tear-down of what an earlier test left warm belongs to the new execution, but is not its change.
        self.state.begin()
        for name, value in headers.items():
            if name.upper() in OWN_VARIABLES:
                os.environ[name.upper()] = value
        os.environ["MURPHY_EXECUTION"] = order["execution"]
        os.environ["MURPHY_FAULTS"] = json.dumps(order.get("faults") or [])
        _headers.update(headers)

    def leave_previous(self, item):
        """Tears down what the last test kept warm and this one does not need. Its failure is not this test's."""
        phase = _site and _site.set_phase("teardown")
        try:
            self.session._setupstate.teardown_exact(item)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            text = "tear-down after %s failed: %s" % (self.previous and self.previous.nodeid, _line(error))
            _say(text)
            return text
        finally:
            if _site:
                _site.set_phase(phase)
            self.state.begin()
        return None

    def forget(self, item):
        """Drops what pytest remembers of each run of a test, for a session in which it runs once."""
        for node, (finalizers, _) in self.session._setupstate.stack.items():
            _prune(finalizers)
        history = getattr(self.config.hook.pytest_warning_recorded, "_call_history", None)
        if history:
            history.clear()
        # From pytest 9.2 on temporary directories are numbered in memory: the next run gets the number that is free again.
        getattr(getattr(self.config, "_tmp_path_factory", None), "_next_number", {}).clear()
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        for reports in terminal.stats.values() if terminal else ():
            reports.clear()

    def limit_captured_output(self):
        """pytest reads all that a test printed; the last 64 KiB are enough, also of a test that prints 100 MB."""
        manager = self.config.pluginmanager.get_plugin("capturemanager")
        capture = getattr(manager, "_global_capturing", None)
        for stream in (getattr(capture, "out", None), getattr(capture, "err", None)):
            if getattr(stream, "tmpfile", None) is not None and hasattr(stream.tmpfile, "buffer"):
                stream.snap = functools.partial(_read_end, stream.tmpfile)


class _RunOneTest:
    """The innermost part of pytest's protocol for a test; the wrappers of other plugins stay around it."""

    def __init__(self, worker):
        self.worker = worker

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        self.worker.current.phases()
        return True


class _Execution:
    """One run of one test: its phases, and what is reported about them."""

    def __init__(self, worker, item, order):
        self.worker, self.item, self.order = worker, item, order
        self.id = order["execution"]
        self.reports = {}
        self.errors = {}
        self.subtests = []
        self.last_error = None
        self.shares = []
        self.gone = None

    def run(self, trouble_before):
        item = self.item
        item._report_sections.clear()
        del item.user_properties[:]
        item.__dict__.pop("_excinfo", None)  # of unittest: failures not yet reported
        if hasattr(item, "_initrequest"):
            item._initrequest()
        function = _renewed(item)
        directory = None
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=_sibling(item))
            directory = self.used_directory
        finally:
            if hasattr(item, "_request"):
                item._request = False
                item.funcargs = None
            if function is not None:
                item._obj = function  # without what plugins wrapped around it for this run
        if directory is not None:
            # Removed, so that the next run finds the same name free and a thousand runs leave nothing.
            shutil.rmtree(str(directory), ignore_errors=True)
        if self.gone:
            raise self.gone
        return self.result(trouble_before)

    def phases(self):
        self.used_directory = None
        if self.phase("setup").passed and not self.gone:
            self.phase("call")
        self.shares = _shares(self.item)
        self.used_directory = (getattr(self.item, "funcargs", None) or {}).get("tmp_path")
        # What could not be set up is set up anew next time, at whichever scope it failed.
        warm = self.reports["setup"].passed and not self.order.get("fresh_fixtures") and not self.gone
        definitions = list(_fixtures(self.item))
        self.phase("teardown", nextitem=_sibling(self.item) if warm else None)
        for definition in definitions:
            _prune(getattr(definition, "_finalizers", []))

    def phase(self, name, **arguments):
        item = self.item
        case = getattr(item, "_testcase", None) if name == "call" else None
        if isinstance(case, unittest.TestCase) and hasattr(case, "_callTestMethod"):
            self.announce_inside(case)
        elif name != "setup":  # announced before anything else
            self.announce(name)
        hook = getattr(item.ihook, "pytest_runtest_" + name)
        call = CallInfo.from_call(lambda: hook(item=item, **arguments), when=name, reraise=(KeyboardInterrupt,))
        report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        self.reports[name] = report
        if call.excinfo is not None:
            self.errors[name] = call.excinfo
        return report

    def subtest_failed(self, report):
        self.subtests.append(report)
        if self.last_error is not None:
            self.errors.setdefault("call", self.last_error)

    def announce(self, name):
        if _site:
            _site.set_phase(SITE_PHASES[name])
        if self.gone:
            return
        try:
            self.worker.control.phase(self.id, name)
        except _Gone as gone:
            self.gone = gone

    def announce_inside(self, case):
        """unittest's setUp and tearDown run within pytest's call."""
        original = case._callTestMethod

        def call_test_method(method):
            self.announce("call")
            try:
                return original(method)
            finally:
                self.announce("teardown")

        case._callTestMethod = call_test_method

    # -- what is reported

    def result(self, trouble_before):
        outcome, phase, report = self.verdict()
        error = self.errors.get(phase)
        failed = outcome in ("failed", "error")
        message = _reason(report) if outcome == "skipped" else _message(report, error) if failed else ""
        result = self.failed(outcome, phase, message)
        result["exceptions"] = _chain(error.value) if failed and error is not None else []
        if _site:
            result["assertion"] = _site.assertion(error.value) if failed and error is not None else None
        result["output"] = self.output(trouble_before)
        result["shares"] = self.shares
        return result

    def failed(self, outcome, phase, message):
        return {
            "execution": self.id,
            "test": self.order["test"],
            "outcome": outcome,
            "phase": phase,
            "message": message,
            "exceptions": [],
            "output": "",
            "took_ms": 0,
            "shares": [],
            "changed": [],
        }

    def verdict(self):
        setup, call, teardown = (self.reports.get(name) for name in ("setup", "call", "teardown"))
        if setup.failed:
            return "error", "setup", setup
        if call is not None and call.failed:
            return "failed", "call", call
        if self.subtests:
            return "failed", "call", self.subtests[0]
        if teardown.failed:
            return "error", "teardown", teardown
        if setup.skipped:
            return "skipped", "setup", setup
        if call is not None and call.skipped:
            return "skipped", "call", call
        return "passed", "call", call

    def output(self, trouble_before):
        parts = [trouble_before + "\n"] if trouble_before else []
        for title, text in self.reports["teardown"].sections:
            parts.append("---- %s ----\n%s\n" % (title, text.rstrip("\n")))
        for report in self.subtests + list(self.reports.values()):
            if report.failed:
                parts.append("---- %s failed ----\n%s\n" % (report.when, str(report.longreprtext).rstrip("\n")))
        return _end("".join(parts), OUTPUT_LIMIT)


# ---- small questions about pytest's objects ----


def _sibling(item):
    """An item that shares all collectors with this one: after it, everything but the test itself stays set up."""
    return copy.copy(item)


def _renewed(item):
    """Gives a method a new instance of its class; returns the function of a test that has no class."""
    if not isinstance(item, pytest.Function):
        return None
    if item.cls is None:
        return item.obj
    item.__dict__.pop("_instance", None)
    item._obj = None
    return None


def _unique(name, names):
    if name not in names:
        return name
    number = 2
    while "%s #%d" % (name, number) in names:
        number += 1
    return "%s #%d" % (name, number)


def _skip_reason(item):
    if evaluate_skip_marks is None:
        return None
    try:
        skipped = evaluate_skip_marks(item)
    except (Exception, pytest.fail.Exception):  # a broken condition fails the test when it runs
        return None
    return None if skipped is None else (skipped.reason or "skipped")


def _fixtures(item):
    """The definitions of all fixtures that the last run used."""
    request = getattr(item, "_request", None)
    return getattr(request, "_fixture_defs", {}).values() if request else ()


def _shares(item):
    """Fixtures that outlive the test, as `name (scope)`; not those of pytest and its event loops, which hold no state of tests."""
    shared = set()
    for definition in _fixtures(item):
        if definition.scope == "function":
            continue
        name = str(definition.argname)
        if "setUpClass_fixture" in name:
            if item.cls is None or item.cls.setUpClass.__func__ is unittest.TestCase.setUpClass.__func__:
                continue
            name = "setUpClass"
        elif "xunit_setup_" in name:
            name = "setup_" + name.split("xunit_setup_", 1)[1].split("_fixture", 1)[0]
        elif str(getattr(definition.func, "__module__", "")).split(".")[0] in ("_pytest", "pytest_asyncio", "anyio"):
            continue
        shared.add("%s (%s)" % (name, definition.scope))
    return sorted(shared)


def _prune(finalizers):
    """Fixtures register with what they depend on each time that they are set up. Those of earlier runs are over, or there twice."""
    seen, remaining = set(), []
    for finalizer in finalizers:
        owner = _owner(finalizer)
        if owner is not None:
            if owner.scope == "function" or id(owner) in seen:
                continue
            seen.add(id(owner))
        remaining.append(finalizer)
    finalizers[:] = remaining


def _owner(finalizer):
    """The fixture that a finalizer ends, if it is one of pytest's own making."""
    owner = None
    if isinstance(finalizer, functools.partial):
        owner = getattr(finalizer.func, "__self__", None)
    elif getattr(finalizer, "__closure__", None) and "fixturedef" in finalizer.__code__.co_freevars:  # pytest 7
        owner = finalizer.__closure__[finalizer.__code__.co_freevars.index("fixturedef")].cell_contents
    return owner if hasattr(owner, "cached_result") and hasattr(owner, "scope") else None


def _read_end(tmpfile):
    """What was printed since the last time, at most its end; in place of `snap` of pytest's capture."""
    raw = tmpfile.buffer
    size = raw.seek(0, os.SEEK_END)
    raw.seek(max(0, size - OUTPUT_LIMIT))
    data = raw.read(OUTPUT_LIMIT) or b""
    tmpfile.seek(0)
    tmpfile.truncate()
    return data.decode("utf-8", "replace")


def _end(text, limit):
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[-limit:].decode("utf-8", "ignore")


def _reason(report):
    """Why a test was skipped, or that its failure is expected."""
    if hasattr(report, "wasxfail"):
        return ("expected to fail: " + report.wasxfail).rstrip(": ")
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return _first_line(reason[9:] if reason.startswith("Skipped: ") else reason)


def _message(report, error):
    text = ""
    if error is not None:
        try:
            text = error.exconly(tryshort=True)
        except Exception as broken:
            text = "%s (its text cannot be read: %s)" % (error.typename, type(broken).__name__)
    if text.startswith("AssertionError: assert "):  # as pytest itself shortens it, but not in a subtest
        text = text[len("AssertionError: ") :]
    return _first_line(text) or _first_line(str(report.longreprtext)) or "failed"


def _first_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:MESSAGE_LIMIT] if lines else ""


def _line(error):
    return "%s: %s" % (_name(error), _first_line(_text(error)))


def _name(error):
    kind = type(error)
    return kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else kind.__module__ + "." + kind.__qualname__


def _text(error):
    try:
        return str(error)[:MESSAGE_LIMIT]
    except Exception as broken:
        return "(its text cannot be read: %s)" % type(broken).__name__


def _chain(error):
    """The exception and its causes, outermost first; the members of a group after it."""
    chain, seen, waiting = [], set(), [error]
    while waiting and len(chain) < CHAIN_LIMIT:
        error = waiting.pop(0)
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        chain.append(dict({"type": _name(error), "message": _text(error)}, **(_site.describe(error) if _site else {})))
        cause = error.__cause__ if error.__cause__ is not None or error.__suppress_context__ else error.__context__
        waiting.insert(0, cause)
        members = getattr(error, "exceptions", None)
        if isinstance(members, (list, tuple)):
            waiting.extend(member for member in members if isinstance(member, BaseException))
    return chain


# ---- where pytest comes in ----


def _asked_for():
    """Whether Murphy started this very process as a worker; a pytest that a test starts is none."""
    if not all(os.environ.get(name) for name in ("MURPHY_CONTROL_URL", "MURPHY_TOKEN", "MURPHY_WORKER")):
        return False
    return os.environ.get(TAKEN) != os.environ["MURPHY_TOKEN"]


def _load_site():
    """The library, also where Python was told not to load sitecustomize.py (`-S`, `-I`). Its failure costs the sites, not the test."""
    if os.environ.get("MURPHY_SITE") != "1":
        return None
    try:
        import murphy_site

        murphy_site.install()
        return murphy_site
    except Exception as error:
        _say("calls are not followed: %s: %s" % (type(error).__name__, error))
        return None


_active = _asked_for()
if _active:
    _site = _load_site()
    os.environ[TAKEN] = os.environ["MURPHY_TOKEN"]
    _ClientPatches().install()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config):
    # All output is captured at the file descriptors, also under `-s`: results carry it.
    if _active:
        early_config.known_args_namespace.capture = "fd"
        early_config.option.capture = "fd"
    yield


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_cmdline_main(config):
    if _active:
        _drop_options(config.option)
    yield


def _drop_options(option):
    """Takes back options that stop after a failure, ask a person, or run tests elsewhere."""
    for name, value in (("maxfail", 0), ("usepdb", False), ("trace", False), ("setuponly", False), ("setupplan", False)):
        if hasattr(option, name):
            setattr(option, name, value)
    if getattr(option, "numprocesses", None) or getattr(option, "dist", "no") != "no" or getattr(option, "tx", None):
        _say("pytest-xdist is off: Murphy itself runs tests side by side (--jobs), each in a worker of its own")
        option.numprocesses, option.dist, option.tx, option.distload = None, "no", [], False
    if getattr(option, "looponfail", False):
        raise pytest.UsageError("murphy: --looponfail cannot run under Murphy: `murphy watch` does that")


def pytest_configure(config):
    global _active
    if not _active:
        return
    _active = False  # one worker in a process: a pytest that a test runs in it is none
    control = _Control(os.environ["MURPHY_CONTROL_URL"], os.environ["MURPHY_TOKEN"], os.environ["MURPHY_WORKER"])
    config.pluginmanager.register(_Worker(config, control), "murphy-worker")
