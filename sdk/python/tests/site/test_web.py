"""Clients below SDKs, and clients alone: headers, lost answers, waits between retries."""

import re
import time
from urllib.parse import unquote

import pytest

CLIENTS = ["http_client", "urllib", "urllib3", "requests", "httpx", "httpx_async", "aiohttp_read", "aiohttp_total"]


@pytest.fixture
def web(plain, project):
    plain.dialect = "s3"

    def run(test, *plan, rest="pass", outcome="passed", **variables):
        plain.begin(*plan, rest=rest)
        result = project(WEB=plain.url, **variables).run("tests/test_web.py::" + test)
        assert result["outcome"] == outcome, result
        return result, plain.seen

    return run


@pytest.mark.parametrize("client", CLIENTS)
def test_a_request_says_who_made_it(web, client):
    _, (request,) = web("test_client[%s]" % client)
    stack = unquote(request.murphy["stack"]).split(" < ")
    assert re.fullmatch(r"shop/web.py:\d+:\w+", stack[0]) and stack[-1].split(":")[-1] == "with_" + client
    assert request.murphy["site"] == request.murphy["stack"].split(" < ")[0]
    assert request.murphy["phase"] == "call" and request.murphy["raises"] == "timeout" and "operation" not in request.murphy
    assert len([name for name, _ in request.all if name == "x-murphy-call"]) == 1


def masked(exceptions):
    return [(one["type"], re.sub(r"0x[0-9a-f]+", "0x", one["message"])) for one in exceptions]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_lost_answer_looks_like_a_hang(web, client):
    test = "test_client[%s]" % client
    lost, (request,) = web(test, "lost", outcome="failed")
    hang, _ = web(test, "hang", outcome="failed")
    assert masked(lost["exceptions"]) == masked(hang["exceptions"])
    assert lost["exceptions"][0]["injected"] and lost["exceptions"][0]["call"] == request.murphy["call"]
    assert not any(one["injected"] for one in hang["exceptions"])


def test_a_client_without_a_bound_cannot_raise(web):
    _, (request,) = web("test_without_a_bound")
    assert "raises" not in request.murphy


def test_retries_of_urllib3_are_one_call_and_do_not_wait(web):
    begun = time.monotonic()
    _, seen = web("test_retries", "503", "503", "lost")
    assert len(seen) == 4 and len({request.murphy["call"] for request in seen}) == 1
    assert time.monotonic() - begun < 3  # 0, 40 and 80 s by its own clock


@pytest.mark.parametrize("library", ["tenacity", "tenacity_async", "backoff"])
def test_loops_until_a_deadline_end_as_soon_by_their_own_clock(web, library):
    begun = time.monotonic()
    _, seen = web("test_until[%s]" % library, rest="503")
    assert time.monotonic() - begun < 5  # of 60 s
    assert len({request.murphy["call"] for request in seen}) == len(seen), "a loop of the application makes new calls"
    web("test_time")


def test_a_thread_acts_for_the_test_that_started_it(web):
    web("test_leaves_a_thread")
    _, seen = web("test_next")
    booked = [(request.murphy["test"].split("::")[1], request.murphy["phase"]) for request in seen]
    assert sorted(booked) == [("test_leaves_a_thread", "none"), ("test_next", "call")]


def test_an_error_status_is_told(web):
    result, (request,) = web("test_status", rest="503", outcome="failed")
    (error,) = result["exceptions"]
    assert (error["status"], error["request_id"], error["call"]) == (503, "murphy-1", request.murphy["call"])


def test_names_are_encoded(web):
    _, (request,) = web("test_name[\\xe4,%]")
    assert unquote(request.murphy["test"]) == "tests/test_web.py::test_name[\\xe4,%]"
    assert "," not in request.murphy["test"] and "%2C%25" in request.murphy["test"]


def test_an_exception_that_does_not_come_is_an_assertion(web):
    result, _ = web("test_did_not_raise", outcome="failed")
    assert result["assertion"]["file"] == "tests/test_web.py" and "DID NOT RAISE" in result["assertion"]["text"]


def test_back_off_can_be_left_as_it_is(web):
    begun = time.monotonic()
    web("test_until[backoff]", rest="503", MURPHY_BACKOFF_SCALE="0.05")
    assert time.monotonic() - begun > 2
