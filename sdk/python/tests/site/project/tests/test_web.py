import threading
import time

import pytest
from shop import web

CLIENTS = ["http_client", "urllib", "urllib3", "requests", "httpx", "httpx_async", "aiohttp_read", "aiohttp_total"]


@pytest.mark.parametrize("client", CLIENTS)
def test_client(client):
    assert getattr(web, "with_" + client)() == b"ok"


def test_status(): web.with_requests_status()
def test_retries(): web.with_retries()
def test_without_a_bound(): web.with_http_client(None)
def test_time(): assert abs(time.time() - time.monotonic() - OFFSET) < 0.5


OFFSET = time.time() - time.monotonic()


@pytest.mark.parametrize("library", ["tenacity", "tenacity_async", "backoff"])
def test_until(library):
    clock = []
    with pytest.raises(Exception):
        getattr(web, "with_" + library)(clock)
    assert len(clock) in (3, 4)


later = threading.Event()
called = threading.Event()


def test_leaves_a_thread():
    def call():
        later.wait(30)
        web.with_urllib()
        called.set()

    threading.Thread(target=call, daemon=True).start()


def test_next():
    later.set()
    assert called.wait(30)
    web.with_urllib()


@pytest.mark.parametrize("name", ["ä,%"])
def test_name(name): web.with_urllib()


def test_did_not_raise():
    with pytest.raises(ValueError):
        pass
