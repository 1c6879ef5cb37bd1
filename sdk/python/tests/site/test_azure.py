"""azure-storage-blob, azure-storage-queue and azure-data-tables against azurite, which checks SharedKey signatures."""

import re
import time
from urllib.parse import unquote

import pytest


@pytest.fixture
def azure(azurite, project):
    variables = dict(zip(("BLOB", "QUEUE", "TABLE"), (proxy.url for proxy in azurite)))
    worker = project(**variables)

    def run(test, *plan, rest="pass", outcome="passed"):
        for proxy in azurite:
            proxy.begin(*plan, rest=rest)
        result = worker.run("tests/test_azure.py::" + test)
        assert result["outcome"] == outcome, result
        result["seen"] = [request for proxy in azurite for request in proxy.seen if request.murphy.get("phase") != "setup(wider)"]
        return result

    run("test_save")
    return run


@pytest.mark.parametrize(
    "test, operation, chain",
    [
        ("test_save", "azure-storage-blob.PUT", ["write", "save"]),
        ("test_send", "azure-storage-queue.POST", ["send"]),
        ("test_record", "azure-data-tables.PATCH", ["record"]),
        ("test_async", "azure-storage-blob.PUT", ["write_async", "save_async"]),
    ],
)
def test_a_request_says_who_made_it_and_its_signature_holds(azure, test, operation, chain):
    (request,) = azure(test)["seen"]
    assert request.status in (201, 204) and request.headers["authorization"].startswith("SharedKey")
    assert request.murphy["operation"] == operation
    assert [frame.split(":")[-1] for frame in unquote(request.murphy["stack"]).split(" < ")] == chain
    assert request.murphy["phase"] == "call" and request.murphy["raises"] == "timeout"


@pytest.mark.parametrize("test", ["test_save", "test_send", "test_record", "test_async"])
def test_every_retry_is_the_same_call_and_waits_no_time(azure, test):
    begun = time.monotonic()
    # azure-data-tables repeats no write whose answer did not come.
    seen = azure(test, "503", "503" if test == "test_record" else "lost", "503")["seen"]
    assert len(seen) == 4 and len({request.murphy["call"] for request in seen}) == 1
    assert len({request.murphy["stack"] for request in seen}) == 1
    assert time.monotonic() - begun < 3


def test_refused_for_good(azure):
    begun = time.monotonic()
    result = azure("test_save", rest="503", outcome="failed")
    p3 = time.monotonic() - begun
    begun = time.monotonic()
    lost = azure("test_save", rest="lost", outcome="failed")
    print("\nazure-storage-blob at its defaults: P3 %.2f s, P2 %.2f s (%d attempts)" % (p3, time.monotonic() - begun, len(lost["seen"])))
    assert p3 < 3 and len(result["seen"]) == len(lost["seen"]) == 4
    error = result["exceptions"][0]
    assert (error["status"], error["code"], error["request_id"]) == (503, "ServerBusy", "murphy-1")
    assert error["call"] == result["seen"][0].murphy["call"]
    assert lost["exceptions"][0]["injected"] and lost["exceptions"][0]["call"] == lost["seen"][0].murphy["call"]


def masked(exceptions):
    return [(one["type"], re.sub(r"0x[0-9a-f]+", "0x", one["message"])) for one in exceptions]


@pytest.mark.parametrize("test", ["test_short", "test_short_async"])
def test_a_lost_answer_looks_like_a_hang(azure, test):
    lost = azure(test, "lost", outcome="failed")["exceptions"]
    hang = azure(test, "hang", outcome="failed")["exceptions"]
    assert masked(lost) == masked(hang)
    assert lost[0]["type"].endswith("ServiceResponseTimeoutError")
    assert lost[0]["injected"] and not any(one["injected"] for one in hang)


def test_an_error_of_the_service(azure):
    result = azure("test_missing", outcome="failed")
    error = result["exceptions"][0]
    assert (error["status"], error["code"], error["injected"]) == (404, "BlobNotFound", False)
    assert error["call"] == result["seen"][-1].murphy["call"] and error["request_id"]


def test_azurite_refuses_a_wrong_signature(azure):
    assert azure("test_wrong_key", outcome="failed")["exceptions"][0]["status"] == 403
