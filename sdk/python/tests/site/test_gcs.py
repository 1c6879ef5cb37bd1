"""google-cloud-storage against an emulator."""

import re
import time
from urllib.parse import unquote

import pytest


@pytest.fixture
def google(gcs, project):
    (proxy,) = gcs
    worker = project(GCS=proxy.url)

    def run(test, *plan, rest="pass", outcome="passed"):
        proxy.begin(*plan, rest=rest)
        result = worker.run("tests/test_gcs.py::" + test)
        assert result["outcome"] == outcome, result
        result["seen"] = [request for request in proxy.seen if request.murphy.get("phase") != "setup(wider)"]
        return result

    run("test_store")
    return run


@pytest.mark.parametrize("test, operation, function", [("test_store", "google-cloud-storage.POST", "store"), ("test_present", "google-cloud-storage.GET", "present")])
def test_every_retry_is_the_same_call(google, test, operation, function):
    begun = time.monotonic()
    seen = google(test, "503", "lost", "503")["seen"]
    assert len(seen) == 4 and time.monotonic() - begun < 3
    assert len({request.murphy["call"] for request in seen}) == 1
    assert len({re.search("gccl-invocation-id/[^ ]+", request.headers["x-goog-api-client"]).group() for request in seen}) == 1
    assert {request.murphy["operation"] for request in seen} == {operation}
    assert {unquote(request.murphy["stack"]).split(":")[-1] for request in seen} == {function}


@pytest.mark.parametrize("test", ["test_short", "test_short_store"])
def test_a_lost_answer_looks_like_a_hang(google, test):
    lost = google(test, "lost", outcome="failed")["exceptions"]
    hang = google(test, "hang", outcome="failed")["exceptions"]
    assert [(one["type"], one["message"]) for one in lost] == [(one["type"], one["message"]) for one in hang]
    assert lost[0]["injected"] and not any(one["injected"] for one in hang)


def test_refused_for_good(google):
    result = google("test_short", rest="503", outcome="failed")
    error = result["exceptions"][0]
    assert (error["status"], error["code"], error["request_id"]) == (503, "backendError", "murphy-1")
    assert error["call"] == result["seen"][0].murphy["call"]
