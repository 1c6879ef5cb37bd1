"""Says which test and which line of the application makes each call to the cloud.

Loaded into a test process by sitecustomize.py where MURPHY_SITE=1, without an edit of the project. To every request of an HTTP
client it adds headers that Murphy's proxy reads and takes away: the cloud call that the request is an attempt of, the frames of
the application that asked for it, the test that runs. Where the proxy answers that an answer is lost, it makes the client time
out as it does after a real hang. Retries of SDKs wait shorter. What the calls mean and which of them fail is left to Murphy.

Clients are patched when they are imported, and never imported from here. A patch that fails warns once and lets the test run.

One file, standard library only: Python 3.9 and newer.
"""

import contextlib
import contextvars
import functools
import itertools
import os
import re
import sys
import time
import types
from urllib.parse import quote

PREFIX = "x-murphy-"
# Frames of a stack that goes with a request.
STACK_LIMIT = 6
# Frames of one exception in a result.
FRAME_LIMIT = 20
# How long a client waits on a connection on which nothing comes any more, to time out by its own code.
NO_WAIT = 0.001
# What a header may hold as it is; `,` separates values where a client or a proxy joins headers.
PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) not in "%,")
# Directories of installed code, also inside a project.
INSTALLED = re.compile(r"(?:^|/)(?:site-packages|dist-packages|node_modules|vendor)/")
# Modules whose sleeps are waits between retries.
BACK_OFF = ("botocore", "aiobotocore", "azure", "urllib3", "google.api_core", "google.auth", "google.resumable_media", "google.cloud.storage", "tenacity", "backoff")
# Among them: those that wait for a state of the service, or share a clock between calls.
NO_BACK_OFF = ("botocore.waiter", "aiobotocore.waiter", "azure.core.polling", "botocore.retries.bucket", "azure.servicebus", "azure.eventhub")
# Packages of clients: an exception of theirs that wraps a time-out of ours is the client's own.
CLIENTS = ("botocore", "aiobotocore", "urllib3", "requests", "aiohttp", "httpx", "httpcore", "azure", "google", "urllib")
# Azure names packages by three parts below these.
AZURE_GROUPS = ("ai", "communication", "data", "iot", "keyvault", "mgmt", "monitor", "search", "storage")
REQUEST_IDS = ("x-amzn-requestid", "x-amz-request-id", "x-ms-request-id", "x-guploader-uploadid", "x-request-id", "request-id")


def _say(text):
    try:
        os.write(2, ("murphy: %s\n" % text).encode(errors="replace"))
    except OSError:
        pass


_warned = set()


def _warn(what, error):
    """Once for each thing that fails."""
    if what not in _warned:
        _warned.add(what)
        _say("%s: %s: %s; the test runs without" % (what, type(error).__name__, error))


def _debug(text):
    if os.environ.get("MURPHY_SITE_DEBUG") == "1":
        _say(text)


# ---- tests ----


class _Test:
    """A test, for as long as anything may still act for it; `none` is its phase when it is over."""

    __slots__ = ("id", "phase")

    def __init__(self, id, phase="none"):
        self.id, self.phase = id, phase


# The test that runs in this process.
_current = None


def begin_test(id):
    """A test begins; it is in no phase yet."""
    global _current
    end_test()
    _current = _Test(id)
    os.environ["MURPHY_TEST"] = id
    set_phase("none")


def set_phase(name):
    """`setup(function)`, `setup(wider)`, `call`, `teardown` or `none`. Answers which it was."""
    if _current is None:
        return "none"
    before, _current.phase = _current.phase, name
    os.environ["MURPHY_TEST_PHASE"] = name
    return before


def end_test():
    """It is over; threads that it left behind still act for it, in no phase."""
    global _current
    if _current is not None:
        _current.phase, _current = "none", None
    for name in ("MURPHY_TEST", "MURPHY_TEST_PHASE"):
        os.environ.pop(name, None)


def _test_now():
    """The test that the code that runs now acts for: that of its thread or task first, the one of the process second."""
    test = _here.get().test or _current
    if test is not None:
        return test
    if _INHERITED is not None:
        return _INHERITED
    running = os.environ.get("PYTEST_CURRENT_TEST")
    if not running:
        return None
    # pytest alone: whose fixture is set up is not known, so none counts as the test's own.
    name, _, phase = running.rpartition(" ")
    phase = phase.strip("()")
    return _Test(name, "setup(wider)" if phase == "setup" else phase)


# ---- calls and where they come from ----


class _Call:
    """One operation of an SDK: all requests made for it are its attempts."""

    __slots__ = ("id", "operation", "stack", "line", "skipped")

    def __init__(self, operation, stack, line):
        self.id = "%d-%d" % (os.getpid(), next(_numbers))
        self.operation, self.stack, self.line, self.skipped = operation, stack, line, 0.0


class _Here:
    """What the running thread or task acts for: call, frames of the application that started it, test. Never changed in place."""

    __slots__ = ("call", "stack", "line", "test")

    def __init__(self, call=None, stack=None, line=None, test=None):
        self.call, self.stack, self.line, self.test = call, stack, line, test


_numbers = itertools.count(1)
_here = contextvars.ContextVar("murphy_here", default=_Here())
# The last request's call, for the exception that its client may raise.
_last = contextvars.ContextVar("murphy_last", default=None)
# Time skipped in waits outside calls.
_skipped = contextvars.ContextVar("murphy_skipped", default=0.0)

_OTHER, _APPLICATION, _TESTS, _LOOP = range(4)
_kinds, _names, _test_files = {}, {}, set()


def _absolute(path):
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def add_test_files(paths):
    """Files of test code: what the runner collected, and its hooks."""
    _test_files.update(_absolute(str(path)) for path in paths)
    _kinds.clear()


def _kind(filename):
    kind = _kinds[filename] = _classify(filename)
    return kind


def _classify(filename):
    if filename.startswith("<") or filename in _OWN_FILES:
        return _OTHER
    path = _absolute(filename)
    if path in _OWN_FILES:
        return _OTHER
    if path in _test_files or os.path.basename(path) == "conftest.py":
        return _TESTS
    slashed = path.replace(os.sep, "/")
    running = os.environ.get("PYTEST_CURRENT_TEST")  # of a pytest that tells nobody what it collected
    if running and slashed.endswith("/" + running.split("::", 1)[0]):
        return _TESTS
    if slashed.endswith("/asyncio/events.py"):
        return _LOOP
    if any(_within(path, place) for place in _APP_PATHS) or any(package in slashed for package in _APP_PACKAGES):
        return _APPLICATION
    if not _within(path, _PROJECT) or INSTALLED.search(os.path.relpath(path, _PROJECT).replace(os.sep, "/")):
        return _OTHER
    environment = _absolute(sys.prefix)
    return _OTHER if environment != _PROJECT and _within(environment, _PROJECT) and _within(path, environment) else _APPLICATION


def _within(path, folder):
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _name(filename):
    """The path as people know it: from the project's root, or from where packages are installed."""
    name = _names.get(filename)
    if name is None:
        path = _absolute(filename) if not filename.startswith("<") else filename
        slashed = path.replace(os.sep, "/")
        installed = list(INSTALLED.finditer(slashed))
        if installed:
            name = slashed[installed[-1].end() :]
        elif _within(path, _PROJECT):
            name = os.path.relpath(path, _PROJECT).replace(os.sep, "/")
        else:
            library = _absolute(os.path.dirname(os.__file__))
            name = os.path.relpath(path, library).replace(os.sep, "/") if _within(path, library) else slashed
        _names[filename] = name
    return name


def _frame_text(code, line):
    return "%s:%d:%s" % (_name(code.co_filename), line, code.co_name)


def _stack(frame):
    """Frames of the application from here outward, up to the first of a test; then the line of that, if there is one."""
    here, frames, kinds = _here.get(), [], _kinds
    while frame is not None:
        code = frame.f_code
        kind = kinds.get(code.co_filename)
        if kind is None:
            kind = _kind(code.co_filename)
        if kind == _APPLICATION:
            if len(frames) < STACK_LIMIT:
                frames.append(_frame_text(code, frame.f_lineno))
        elif kind == _TESTS:
            return tuple(frames), "%s:%d" % (_name(code.co_filename), frame.f_lineno)
        elif kind == _LOOP and here.stack is not None and code.co_name == "_run":
            break  # below is what drives the loop, not who started the task
        frame = frame.f_back
    return (tuple(frames) + (here.stack or ()))[:STACK_LIMIT], here.line


def _carried():
    """What a thread or task that is started here acts for."""
    here = _here.get()
    stack, line = _stack(sys._getframe(1))
    test = here.test or _current
    if test is not None and test.phase in ("setup(wider)", "none"):
        test = here.test  # what outlives the test serves the next one, too
    return _Here(here.call, stack, line, test)


def _call(operation, frame):
    return _Call(operation, *_stack(frame))


@contextlib.contextmanager
def _entered(operation):
    """An operation of an SDK runs."""
    here, token = _here.get(), None
    try:
        call = _call(operation, sys._getframe(2))
        token = _here.set(_Here(call, here.stack, here.line, here.test))
    except Exception as error:
        _warn("a call is not known as one", error)
        call = None
    try:
        yield call
    except BaseException as error:
        _tag(error, "_murphy_call", call and call.id)
        raise
    finally:
        if token is not None:
            with contextlib.suppress(ValueError):  # ended in another context than it began in
                _here.reset(token)


def _tag(thing, name, value):
    with contextlib.suppress(Exception):
        if value is not None and getattr(thing, name, None) is None:
            setattr(thing, name, value)


_encoded = functools.lru_cache(4096)(lambda text: quote(text, safe=PLAIN))


def _headers(raises, method=None):
    """The headers of a request that is sent now."""
    try:
        call = _here.get().call or _call(None, sys._getframe(1))
        _last.set(call.id)
        headers = [("call", call.id), ("pid", str(os.getpid()))]
        operation = call.operation
        if operation and operation.endswith("."):  # of an SDK that names operations by their method
            operation = operation + method if method else None
        if operation:
            headers.append(("operation", operation))
        if call.stack:
            headers.append(("site", _encoded(call.stack[0])))
            headers.append(("stack", " < ".join(map(_encoded, call.stack))))
        if call.line:
            headers.append(("line", _encoded(call.line)))
        test = _test_now()
        headers.append(("phase", test.phase if test else "none"))
        if test:
            headers.append(("test", _encoded(test.id)))
        if raises and _RAISES:
            headers.append(("raises", "timeout"))
        if os.environ.get("MURPHY_SITE_DEBUG") == "1":
            _debug("request %s" % headers)
        return [(PREFIX + name, value) for name, value in headers]
    except Exception as error:
        _warn("a request carries no site", error)
        return []


def _is_lost(headers):
    return _RAISES and headers is not None and headers.get(PREFIX + "lost") == "timeout"


def _injected(error):
    _tag(error, "_murphy_injected", True)
    _tag(error, "_murphy_call", _last.get())
    return error


# ---- HTTP clients ----


def _patch(owner, name, make):
    """Replaces a function by what `make` makes of it, once however often this file is loaded."""
    original = getattr(owner, name)
    if getattr(original, "_murphy_site", False):
        return
    made = functools.wraps(original)(make(original))
    made._murphy_site = True
    setattr(owner, name, made)


def _patch_http_client(module):
    def endheaders(original):
        def call(self, *args, **kwargs):
            # `murphy_own` is the worker's conversation with Murphy.
            if not getattr(self, "murphy_own", False) and not any(line[: len(PREFIX)].lower() == PREFIX.encode() for line in self._buffer):
                method = bytes(self._buffer[0]).split(b" ", 1)[0].decode("latin-1") if self._buffer else None
                for name, value in _headers(_has_timeout(self), method):
                    self.putheader(name, value)
            return original(self, *args, **kwargs)

        return call

    def begin(original):
        def call(self, *args, **kwargs):
            original(self, *args, **kwargs)
            if _is_lost(self.headers):
                error = _injected(_read_time_out(self.fp))
                raise error

        return call

    _patch(module.HTTPConnection, "endheaders", endheaders)
    _patch(module.HTTPResponse, "begin", begin)


def _has_timeout(connection):
    """A client without a read time-out would wait for ever, and has no exception to raise."""
    timeout = getattr(connection, "timeout", None)
    if timeout is None:
        return False
    if isinstance(timeout, (int, float)):
        return True
    import socket

    return socket.getdefaulttimeout() is not None


def _read_time_out(stream):
    """The exception of a read that times out, by a read on this very connection where that is possible."""
    import socket

    try:
        connection = stream.raw._sock
        before = connection.gettimeout()
        connection.settimeout(NO_WAIT)
        try:
            connection.recv(1)
        finally:
            connection.settimeout(before)
    except socket.timeout as error:
        return error.with_traceback(None)
    except Exception as error:
        _debug("no time-out of the connection's own: %s" % error)
    return socket.timeout("timed out")


def _patch_urllib3(module):
    """Retries of urllib3 itself, where no SDK is above it."""

    def urlopen(original):
        def call(self, *args, **kwargs):
            if _here.get().call is not None:
                return original(self, *args, **kwargs)
            with _entered(None) as entered:
                answer = original(self, *args, **kwargs)
                _tag(answer, "_murphy_call", entered and entered.id)
                return answer

        return call

    _patch(module.HTTPConnectionPool, "urlopen", urlopen)


def _patch_aiohttp_request(module):
    def send(original):
        async def call(self, conn, *args, **kwargs):
            timer = getattr(self, "_timer", None)
            limited = getattr(conn.protocol, "_read_timeout", None) or getattr(timer, "timeout", None) is not None
            for name, value in _headers(limited, self.method):
                self.headers[name] = value
            return await original(self, conn, *args, **kwargs)

        return call

    def start(original):
        async def call(self, connection, *args, **kwargs):
            connection.protocol._murphy_timer = getattr(self, "_timer", None)
            return await original(self, connection, *args, **kwargs)

        return call

    _patch(module.ClientRequest, "send", send)
    _patch(module.ClientResponse, "start", start)


def _patch_aiohttp_protocol(module):
    def read(original):
        async def call(self, *args, **kwargs):
            answer = await original(self, *args, **kwargs)
            if not _is_lost(getattr(answer[0], "headers", None)):
                return answer
            timer = getattr(self, "_murphy_timer", None)
            try:
                if getattr(self, "_read_timeout", None):
                    self._on_read_timeout()
                    return await original(self, *args, **kwargs)
                if hasattr(timer, "timeout"):  # the bound of the whole request
                    timer.timeout()
                    await self._loop.create_future()
            except BaseException as error:
                _injected(error)
                raise
            return answer

        return call

    _patch(module.ResponseHandler, "read", read)


def _patch_httpcore(module):
    def send(raises):
        def make(original):
            def add(request):
                limited = raises and (request.extensions.get("timeout") or {}).get("read") is not None
                others = [header for header in request.headers if header[0][: len(PREFIX)].lower() != PREFIX.encode()]
                added = _headers(limited, request.method.decode("ascii", "replace"))
                request.headers = others + [(name.encode(), value.encode()) for name, value in added]

            def call(self, request, *args, **kwargs):
                add(request)
                return original(self, request, *args, **kwargs)

            async def call_async(self, request, *args, **kwargs):
                add(request)
                return await original(self, request, *args, **kwargs)

            return call_async if _is_async(original) else call

        return make

    def lost(answer):
        return _RAISES and any(name.lower() == b"x-murphy-lost" and value == b"timeout" for name, value in answer[3])

    def receive(original):
        def call(self, *args, **kwargs):
            answer = original(self, *args, **kwargs)
            if not lost(answer):
                return answer
            try:
                self._network_stream.read(1, timeout=NO_WAIT)
            except module.ReadTimeout as error:
                _injected(error)
                raise
            raise _injected(module.ReadTimeout("timed out")) from TimeoutError("timed out")

        async def call_async(self, *args, **kwargs):
            answer = await original(self, *args, **kwargs)
            if not lost(answer):
                return answer
            try:
                await self._network_stream.read(1, timeout=NO_WAIT)
            except module.ReadTimeout as error:
                _injected(error)
                raise
            raise _injected(module.ReadTimeout()) from TimeoutError()

        return call_async if _is_async(original) else call

    for connection in ("HTTP11Connection", "AsyncHTTP11Connection"):
        _patch(getattr(module, connection), "_send_request_headers", send(True))
        _patch(getattr(module, connection), "_receive_response_headers", receive)
    for connection in ("HTTP2Connection", "AsyncHTTP2Connection"):
        if hasattr(getattr(module, connection, None), "_send_request_headers"):
            _patch(getattr(module, connection), "_send_request_headers", send(False))


def _is_async(function):
    return bool(function.__code__.co_flags & 0x80)


# ---- entries of SDKs ----


def _patch_botocore(module):
    def make(original):
        def call(self, operation_name, *args, **kwargs):
            with _entered("%s.%s" % (self._service_model.service_name, operation_name)):
                return original(self, operation_name, *args, **kwargs)

        async def call_async(self, operation_name, *args, **kwargs):
            with _entered("%s.%s" % (self._service_model.service_name, operation_name)):
                return await original(self, operation_name, *args, **kwargs)

        return call_async if _is_async(original) else call

    _patch(getattr(module, "AioBaseClient", None) or module.BaseClient, "_make_api_call", make)


def _patch_azure(name):
    def patch(module):
        def make(original):
            def call(self, request, *args, **kwargs):
                with _entered(_azure_package(sys._getframe(1)) + "." + str(getattr(request, "method", ""))) as entered:
                    _tag(request, "_murphy_call", entered and entered.id)
                    return original(self, request, *args, **kwargs)

            async def call_async(self, request, *args, **kwargs):
                with _entered(_azure_package(sys._getframe(1)) + "." + str(getattr(request, "method", ""))) as entered:
                    _tag(request, "_murphy_call", entered and entered.id)
                    return await original(self, request, *args, **kwargs)

            return call_async if _is_async(original) else call

        _patch(getattr(module, name), "run", make)

    return patch


def _azure_package(frame):
    """The package of the client that runs the pipeline."""
    while frame is not None:
        parts = str(frame.f_globals.get("__name__")).split(".")
        if parts[0] == "azure" and len(parts) > 1 and parts[1] != "core":
            return "-".join(parts[: 3 if parts[1] in AZURE_GROUPS else 2])
        if _kinds.get(frame.f_code.co_filename) in (_APPLICATION, _TESTS):
            break
        frame = frame.f_back
    return "azure-core"


def _patch_google_http(module):
    """Requests without a retry policy; those with one are entered where it begins."""

    def make(original):
        def call(self, *args, **kwargs):
            if _here.get().call is not None:
                return original(self, *args, **kwargs)
            with _entered(_google_package(self)):
                return original(self, *args, **kwargs)

        return call

    _patch(module.JSONConnection, "api_request", make)


def _patch_google_storage(module):
    def make(original):
        def call(self, *args, **kwargs):
            with _entered(_google_package(self)):
                return original(self, *args, **kwargs)

        return call

    _patch(module.Connection, "api_request", make)


def _google_package(connection):
    """Ends with a dot: the method is known when a request is sent."""
    parts = type(connection).__module__.split(".")
    return "-".join(parts[:3]) + "."


def _patch_google_retry(module):
    def make(original):
        def call(*args, **kwargs):
            if _here.get().call is not None:
                return original(*args, **kwargs)
            with _entered(_google_caller(sys._getframe(1))):
                return original(*args, **kwargs)

        async def call_async(*args, **kwargs):
            if _here.get().call is not None:
                return await original(*args, **kwargs)
            with _entered(_google_caller(sys._getframe(1))):
                return await original(*args, **kwargs)

        return call_async if _is_async(original) else call

    _patch(module, "retry_target", make)


def _google_caller(frame):
    while frame is not None:
        parts = str(frame.f_globals.get("__name__")).split(".")
        if parts[:2] == ["google", "cloud"] and len(parts) > 2:
            return "-".join(parts[:3]) + "."
        frame = frame.f_back
    return None


# ---- threads and tasks ----


def _patch_threading(module):
    def start(original):
        def call(self):
            run, carried = self.run, None
            try:
                carried = _carried()
            except Exception as error:
                _warn("a thread is not known as started by the application", error)
            if carried is None or self._started.is_set():
                return original(self)

            def run_carried():
                self.__dict__.pop("run", None)
                _here.set(carried)
                run()

            self.run = run_carried
            try:
                return original(self)
            except BaseException:
                self.__dict__.pop("run", None)
                raise

        return call

    _patch(module.Thread, "start", start)


def _patch_executor(module):
    def submit(original):
        def call(self, fn, /, *args, **kwargs):
            try:
                carried = _carried()
            except Exception as error:
                _warn("a job is not known as started by the application", error)
                return original(self, fn, *args, **kwargs)
            return original(self, _in(carried, fn), *args, **kwargs)

        return call

    _patch(module.ThreadPoolExecutor, "submit", submit)


def _in(carried, function):
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        token = _here.set(carried)
        try:
            return function(*args, **kwargs)
        finally:
            _here.reset(token)

    return call


def _patch_base_events(module):
    def create_task(original):
        def call(self, coro, **kwargs):
            try:
                carried = _carried()
            except Exception as error:
                _warn("a task is not known as started by the application", error)
                return original(self, coro, **kwargs)
            if kwargs.get("context") is not None:
                kwargs["context"].run(_here.set, carried)
                return original(self, coro, **kwargs)
            token = _here.set(carried)
            try:
                return original(self, coro, **kwargs)
            finally:
                _here.reset(token)

        return call

    _patch(module.BaseEventLoop, "create_task", create_task)


def _patch_asyncio(module):
    def run_coroutine_threadsafe(original):
        def call(coro, loop):
            token = _here.set(_carried())
            try:
                return original(coro, loop)
            finally:
                _here.reset(token)

        return call

    def sleep(original):
        async def call(delay, *args, **kwargs):
            # SDKs import asyncio within functions, too: who waits is known here only.
            if _is_back_off(str(sys._getframe(1).f_globals.get("__name__"))):
                delay = _skip(delay)
            return await original(delay, *args, **kwargs)

        return call

    _patch(module, "run_coroutine_threadsafe", run_coroutine_threadsafe)
    if _SCALE != 1:
        _patch(module, "sleep", sleep)


def _patch_unittest(module):
    """Tests and phases of runners that are unittest's kin; a runner that says more is believed."""

    def run(original):
        def call(self, result=None):
            if _current is not None or os.environ.get("PYTEST_CURRENT_TEST"):
                return original(self, result)
            _add_test_class(type(self))
            begin_test(self.id())
            for name, phase in (("_callSetUp", "setup(function)"), ("_callTestMethod", "call"), ("_callTearDown", "teardown")):
                if hasattr(self, name):
                    setattr(self, name, _in_phase(getattr(self, name), phase))
            try:
                return original(self, result)
            finally:
                for name in ("_callSetUp", "_callTestMethod", "_callTearDown"):
                    self.__dict__.pop(name, None)
                end_test()

        return call

    _patch(module.TestCase, "run", run)


def _patch_unittest_loader(module):
    """Classes are set up before the first of their tests runs."""

    def load(original):
        def call(self, testCaseClass, *args, **kwargs):
            _add_test_class(testCaseClass)
            return original(self, testCaseClass, *args, **kwargs)

        return call

    _patch(module.TestLoader, "loadTestsFromTestCase", load)


def _add_test_class(case):
    file = getattr(sys.modules.get(case.__module__), "__file__", None)
    if file and _absolute(file) not in _test_files:
        add_test_files([file])


def _in_phase(function, phase):
    @functools.wraps(function)
    def call(*args, **kwargs):
        set_phase(phase)
        return function(*args, **kwargs)

    return call


# ---- waits between retries ----


def _skip(seconds):
    """How long to wait in place of these seconds. The rest counts as passed, for the same call or, outside calls, thread or task."""
    if not isinstance(seconds, (int, float)) or seconds <= 0:
        return seconds
    wait = seconds * _SCALE
    call = _here.get().call
    if call is not None:
        call.skipped += seconds - wait
    else:
        _skipped.set(_skipped.get() + seconds - wait)
    return wait


def _passed():
    call = _here.get().call
    return call.skipped if call is not None else _skipped.get()


def _sleep(seconds):
    return time.sleep(_skip(seconds))


def _time():
    return time.time() + _passed()


def _monotonic():
    return time.monotonic() + _passed()


class _Stand(types.ModuleType):
    """A module as the modules of an SDK see it: some of its functions are ours."""

    def __init__(self, real, **own):
        super().__init__(real.__name__)
        self.__dict__.update(own, _murphy_real=real)

    def __getattr__(self, name):
        return getattr(self._murphy_real, name)


_stands = {}


def _stand_in(name, real):
    if name not in _stands:
        own = dict(sleep=_sleep, time=_time, monotonic=_monotonic) if name == "time" else dict(datetime=_shifted(real.datetime))
        _stands[name] = _Stand(real, **own)
    return _stands[name]


def _shifted(datetime):
    class Datetime(datetime):
        @classmethod
        def now(cls, tz=None):
            import datetime as module

            return datetime.now(tz) + module.timedelta(seconds=_passed())

    return Datetime


@functools.lru_cache(4096)
def _is_back_off(name):
    def below(names):
        return any(name == other or name.startswith(other + ".") for other in names)

    return _SCALE != 1 and below(BACK_OFF) and not below(NO_BACK_OFF)


def _shorten_waits(module):
    functions = {time.sleep: _sleep, time.time: _time, time.monotonic: _monotonic}
    for name, value in list(vars(module).items()):
        if value is time:
            setattr(module, name, _stand_in("time", value))
        elif isinstance(value, types.ModuleType) and value is sys.modules.get("datetime") and module.__name__.startswith("backoff."):
            setattr(module, name, _stand_in("datetime", value))
        elif isinstance(value, types.BuiltinFunctionType) and value in functions:
            setattr(module, name, functions[value])


# ---- what an exception says, for results ----


def describe(error):
    """The fields of an exception in a worker's result, besides its type and message."""
    status, code, request_id = _answer(error)
    return {
        "frames": _frames(error)[-FRAME_LIMIT:],
        "status": status,
        "code": code,
        "request_id": request_id,
        "injected": _is_injected(error),
        "call": _call_of(error),
    }


def assertion(error):
    """Where an assertion failed, and what it says: the innermost frame that is no library's."""
    if not isinstance(error, AssertionError) and type(error).__name__ not in ("Failed", "_ShouldStop"):
        return None
    place, traceback = None, error.__traceback__
    while traceback is not None:
        kind = _kind(traceback.tb_frame.f_code.co_filename)
        if kind in (_APPLICATION, _TESTS):
            place = (traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    if place is None:
        return None
    text = _text(error)
    if not text:
        import linecache

        text = linecache.getline(*place).strip()
    return {"file": _name(place[0]), "line": place[1], "text": text}


def _text(error):
    try:
        return str(error)[:4096]
    except Exception:
        return ""


def _frames(error):
    """From the first frame of test or application inward: what is around it is the runner's."""
    frames, begun, traceback = [], None, error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if _absolute(code.co_filename) not in _OWN_FILES:
            if begun is None and _kind(code.co_filename) in (_APPLICATION, _TESTS):
                begun = len(frames)
            frames.append(_frame_text(code, traceback.tb_lineno))
        traceback = traceback.tb_next
    return frames[begun or 0 :]


def _get(thing, name):
    try:
        return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)
    except Exception:
        return None


def _answer(error):
    """Status, code and request id of the answer that an exception reports, as each SDK keeps them."""
    response = _get(error, "response")
    if isinstance(response, dict):  # botocore
        metadata, said = response.get("ResponseMetadata") or {}, response.get("Error") or {}
        return _number(metadata.get("HTTPStatusCode")), _word(said.get("Code")), _word(metadata.get("RequestId") or _request_id(metadata.get("HTTPHeaders")))
    headers = _get(response, "headers") if response is not None else _get(error, "headers")
    status = next((number for number in map(_number, (_get(error, "status_code"), _get(response, "status_code"), _get(error, "status"), _get(error, "code"))) if number), None)
    code = _word(_get(error, "error_code")) or _reason(_get(error, "errors"))
    return status, code, _request_id(headers)


def _number(value):
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and 100 <= value < 600 else None


def _word(value):
    value = getattr(value, "value", value)
    return str(value) if isinstance(value, (str, int)) and value else None


def _reason(errors):
    first = errors[0] if isinstance(errors, (list, tuple)) and errors else None
    return _word(first.get("reason")) if isinstance(first, dict) else None


def _request_id(headers):
    for name in REQUEST_IDS:
        value = next((_get(headers, form) for form in (name, name.title()) if headers is not None and hasattr(headers, "get") and headers.get(form)), None)
        value = value or (headers.get(name) if headers is not None and hasattr(headers, "get") else None)
        if value:
            return str(value)
    return None


def _wrapped(error):
    """Exceptions that an exception holds: some clients keep the cause in a field only."""
    for other in (error.__cause__, error.__context__, _get(error, "inner_exception"), _get(error, "reason"), *getattr(error, "args", ())):
        if isinstance(other, BaseException):
            yield other


def _first_in(error, found):
    seen, waiting = set(), [error]
    while waiting and len(seen) < 32:
        error = waiting.pop(0)
        if id(error) in seen:
            continue
        seen.add(id(error))
        result = found(error)
        if result is not None:
            return result
        waiting.extend(_wrapped(error))
    return None


def _is_injected(error):
    """This file raised it, or a client did for that."""
    if getattr(error, "_murphy_injected", False):
        return True
    return _is_of_client(error) and bool(_first_in(error, lambda one: getattr(one, "_murphy_injected", None)))


def _is_of_client(error):
    return type(error).__module__.split(".")[0] in CLIENTS or type(error).__name__ == "TimeoutError" and type(error).__module__ in ("builtins", "asyncio.exceptions")


def _call_of(error):
    def found(one):
        response = _get(one, "response")
        places = (one, response, _get(response, "raw"), _get(response, "request"), _get(one, "request"))
        return next((call for call in (_get(place, "_murphy_call") for place in places if place is not None) if isinstance(call, str)), None)

    call = found(error)
    if call is None and _is_of_client(error):
        call = _first_in(error, found)
    return call


# ---- patches at import ----


PATCHES = {
    "http.client": _patch_http_client,
    "urllib3.connectionpool": _patch_urllib3,
    "aiohttp.client_reqrep": _patch_aiohttp_request,
    "aiohttp.client_proto": _patch_aiohttp_protocol,
    "httpcore": _patch_httpcore,
    "botocore.client": _patch_botocore,
    "aiobotocore.client": _patch_botocore,
    "azure.core.pipeline._base": _patch_azure("Pipeline"),
    "azure.core.pipeline._base_async": _patch_azure("AsyncPipeline"),
    "google.cloud._http": _patch_google_http,
    "google.cloud.storage._http": _patch_google_storage,
    "google.api_core.retry.retry_unary": _patch_google_retry,
    "google.api_core.retry.retry_unary_async": _patch_google_retry,
    "threading": _patch_threading,
    "concurrent.futures.thread": _patch_executor,
    "asyncio.base_events": _patch_base_events,
    "asyncio": _patch_asyncio,
    "unittest.case": _patch_unittest,
    "unittest.loader": _patch_unittest_loader,
}


class _Importer:
    """Patches modules when the project imports them."""

    murphy_site = True

    def find_spec(self, name, path=None, target=None):
        if name not in PATCHES and not _is_back_off(name):
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if finder is not self and find is not None else None
            if spec is not None:
                break
        else:
            return None
        execute = getattr(spec.loader, "exec_module", None)
        if execute is not None:

            def exec_module(module):
                execute(module)
                _apply(name, module)

            try:
                spec.loader.exec_module = exec_module
            except Exception as error:
                _warn("%s is not followed" % name, error)
        return spec


def _apply(name, module):
    try:
        if name in PATCHES:
            PATCHES[name](module)
        if _is_back_off(name):
            _shorten_waits(module)
    except Exception as error:  # a version that looks different
        _warn("calls by %s are not followed" % name, error)


def _settings():
    global _PROJECT, _APP_PATHS, _APP_PACKAGES, _SCALE, _RAISES, _INHERITED, _OWN_FILES
    folder = os.path.dirname(_absolute(__file__))
    _OWN_FILES = {os.path.join(folder, name) for name in ("murphy_site.py", "murphy_worker.py", "sitecustomize.py")} | {__file__}
    _PROJECT = _absolute(os.environ.get("MURPHY_PROJECT") or os.getcwd())
    more = [item for item in os.environ.get("MURPHY_APP", "").split(os.pathsep) if item]
    _APP_PATHS = tuple(_absolute(item) for item in more if os.path.isabs(item) or os.path.exists(os.path.join(_PROJECT, item)))
    packages = [item.replace(".", "/") for item in more if re.fullmatch(r"[\w.]+", item)]
    _APP_PACKAGES = tuple("-packages/%s%s" % (package, end) for package in packages for end in ("/", ".py"))
    try:
        _SCALE = min(1.0, max(0.0, float(os.environ.get("MURPHY_BACKOFF_SCALE") or 0.01)))
    except ValueError as error:
        _SCALE = 1.0
        _warn("MURPHY_BACKOFF_SCALE is no number, so retries wait as long as they do", error)
    _RAISES = os.environ.get("MURPHY_LOST_ANSWER", "raise") != "off"
    # The test of the process that started this one.
    inherited = os.environ.get("MURPHY_TEST")
    _INHERITED = _Test(inherited, os.environ.get("MURPHY_TEST_PHASE", "none")) if inherited else None


def install():
    """Follows calls from now on. A second time, also by another copy of this file, does nothing."""
    if any(getattr(finder, "murphy_site", False) for finder in sys.meta_path):
        return
    _settings()
    _is_back_off.cache_clear()
    sys.meta_path.insert(0, _Importer())
    for name, module in list(sys.modules.items()):
        if module is not None and (name in PATCHES or _is_back_off(name)):
            _apply(name, module)


_settings()
