"""boto3 and aiobotocore against moto: sites, calls, lost answers at the SDK's own defaults."""

import datetime
import hashlib
import hmac
import re
import time
from urllib.parse import unquote

import pytest


@pytest.fixture
def aws(moto, project):
    (proxy,) = moto
    proxy.dialect = "s3"
    worker = project(MOTO=proxy.url)
    worker.proxy = proxy

    def run(test, *plan, rest="pass", outcome="passed"):
        proxy.begin(*plan, rest=rest)
        result = worker.run("tests/test_aws.py::" + test, headers={"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
        assert result["outcome"] == outcome, result
        result["seen"] = [request for request in proxy.seen if request.murphy.get("phase") != "setup(wider)"]
        return result

    run("test_save")  # starts the session's fixtures; connections and imports are warm
    yield run


def stacks(seen):
    return [re.sub(r":\d+:", ":", unquote(request.murphy.get("stack", ""))) for request in seen]


def test_a_request_says_who_made_it(aws):
    (request,) = aws("test_save")["seen"]
    assert re.fullmatch(r"\d+-\d+", request.murphy["call"]) and request.murphy["call"].startswith(request.murphy["pid"] + "-")
    assert request.murphy["operation"] == "s3.PutObject"
    assert re.fullmatch(r"shop/aws.py:\d+:call", request.murphy["site"])
    assert stacks([request]) == ["shop/aws.py:call < shop/aws.py:put < shop/aws.py:save"]
    assert re.fullmatch(r"tests/test_aws.py:\d+", request.murphy["line"])
    assert (request.murphy["phase"], request.murphy["test"]) == ("call", "tests/test_aws.py::test_save")
    assert request.murphy["raises"] == "timeout"
    assert request.headers["traceparent"].startswith("00-0af"), "and carries the trace context of its execution"


def test_a_call_by_the_test_itself_has_no_stack(aws):
    (request,) = aws("test_direct")["seen"]
    assert "stack" not in request.murphy and "site" not in request.murphy
    assert request.murphy["operation"] == "s3.ListObjectsV2" and request.murphy["line"].startswith("tests/test_aws.py:")


CHAIN = "shop/aws.py:call < shop/aws.py:put < shop/aws.py:save"
ASYNC = "shop/aws.py:async_put < shop/aws.py:async_save"


@pytest.mark.parametrize(
    "test, expected",
    [
        ("test_thread", [CHAIN + " < shop/aws.py:in_thread"]),
        ("test_pool", [CHAIN + " < shop/aws.py:in_pool"] * 3),
        ("test_lambda", [CHAIN]),
        ("test_async", [ASYNC]),
        ("test_gather", [ASYNC + " < shop/aws.py:<genexpr> < shop/aws.py:gathered"] * 2),
        ("test_threadsafe", [ASYNC + " < shop/aws.py:from_thread"]),
    ],
)
def test_sites_through_threads_pools_and_tasks(aws, test, expected):
    seen = aws(test)["seen"]
    if test == "test_gather":  # the task begins where gather took it: the generator is over by then
        assert stacks(seen) == [ASYNC + " < shop/aws.py:gathered"] * 2
    else:
        assert stacks(seen) == expected
    assert {request.murphy["test"] for request in seen} == {"tests/test_aws.py::" + test}
    assert len({request.murphy["call"] for request in seen}) == len(seen)


def test_parts_of_an_upload_come_from_its_caller(aws):
    seen = aws("test_upload")["seen"]
    assert len(seen) == 4 and set(stacks(seen)) == {"shop/aws.py:upload"}
    assert sorted(request.murphy["operation"] for request in seen) == ["s3.CompleteMultipartUpload", "s3.CreateMultipartUpload", "s3.UploadPart", "s3.UploadPart"]


def test_phases(aws, moto, project):
    phases = [request.murphy["phase"] for request in aws("test_fixture")["seen"]]
    assert phases == ["setup(function)", "call", "teardown"]
    (proxy,) = moto
    proxy.begin()
    project(MOTO=proxy.url).run("tests/test_aws.py::test_save", fresh_fixtures=True)
    result = project(MOTO=proxy.url).run("tests/test_aws.py::test_save")
    wider = [request for request in proxy.seen if request.murphy["phase"] == "setup(wider)"]
    assert [request.murphy["operation"] for request in wider] == ["s3.CreateBucket"], result
    assert stacks(wider) == ["shop/aws.py:call < shop/aws.py:make"]


def test_a_child_process_acts_for_the_test(aws):
    (request,) = aws("test_child")["seen"]
    assert stacks([request]) == [CHAIN]
    assert (request.murphy["test"], request.murphy["phase"]) == ("tests/test_aws.py::test_child", "call")


def test_every_retry_is_the_same_call(aws):
    for test, plan in (("test_save", ["503", "lost", "503"]), ("test_async", ["lost", "503"]), ("test_table", ["503", "lost"])):
        seen = aws(test, *plan, outcome="failed" if test == "test_table" else "passed")["seen"]  # a table is created once
        assert len(seen) == len(plan) + 1, test
        assert len({request.murphy["call"] for request in seen}) == 1
        assert len({request.headers.get("amz-sdk-invocation-id") for request in seen}) == 1
        assert len(set(stacks(seen))) == 1


def test_lost_answers_cost_no_time_at_the_defaults(aws):
    begun = time.monotonic()
    first = aws("test_save", "lost")
    p1 = time.monotonic() - begun
    assert len(first["seen"]) == 2
    begun = time.monotonic()
    all_lost = aws("test_save", rest="lost", outcome="failed")
    p2 = time.monotonic() - begun
    begun = time.monotonic()
    refused = aws("test_save", rest="503", outcome="failed")
    p3 = time.monotonic() - begun
    print("\nboto3 at its defaults: P1 %.2f s, P2 %.2f s (%d attempts), P3 %.2f s (%d attempts)" % (p1, p2, len(all_lost["seen"]), p3, len(refused["seen"])))
    assert p1 < 1 and p2 < 2 and p3 < 2
    assert len(all_lost["seen"]) == len(refused["seen"]) == 5, "as many attempts as without a shorter wait"


@pytest.mark.parametrize("test", ["test_short", "test_short_async"])
def test_a_lost_answer_looks_like_a_hang(aws, test):
    lost = aws(test, "lost", outcome="failed")["exceptions"]
    hang = aws(test, "hang", outcome="failed")["exceptions"]
    assert [(one["type"], one["message"]) for one in lost] == [(one["type"], one["message"]) for one in hang]
    assert lost[0]["type"] == "botocore.exceptions.ReadTimeoutError" and len(lost) >= 2
    assert all(one["injected"] for one in lost) and not any(one["injected"] for one in hang)


def test_results_say_what_the_sdk_said(aws):
    result = aws("test_missing", outcome="failed")
    (error,) = result["exceptions"]
    assert (error["status"], error["code"], error["injected"]) == (404, "NoSuchKey", False)
    assert error["call"] == result["seen"][0].murphy["call"]
    assert re.fullmatch(r"tests/test_aws.py:\d+:test_missing", error["frames"][0])
    assert any(re.fullmatch(r"shop/aws.py:\d+:call", frame) for frame in error["frames"])
    assert re.fullmatch(r"botocore/client.py:\d+:_make_api_call", error["frames"][-1])
    assert not any("murphy_site" in frame for frame in error["frames"])
    assert result["assertion"] is None


def test_an_injected_answer_is_known_by_its_id(aws):
    result = aws("test_wrapped", rest="503", outcome="failed")
    outer, inner = result["exceptions"]
    assert (outer["type"], outer["status"], outer["call"]) == ("KeyError", None, None)
    assert (inner["status"], inner["code"], inner["request_id"], inner["injected"]) == (503, "ServiceUnavailable", "murphy-1", False)
    assert inner["call"] == result["seen"][0].murphy["call"]


def test_an_applications_exception_is_not_taken_for_ours(aws):
    result = aws("test_wrapped", rest="lost", outcome="failed")
    assert [one["injected"] for one in result["exceptions"]] == [False, True, True, True]
    assert result["exceptions"][1]["call"] == result["seen"][0].murphy["call"]


def test_an_assertion_has_its_place(aws):
    result = aws("test_wrong", outcome="failed")
    assert result["assertion"]["file"] == "tests/test_aws.py" and result["assertion"]["line"] > 0
    assert "== 7" in result["assertion"]["text"]


def test_the_applications_own_sleep_is_untouched(aws):
    aws("test_sleep")


def test_switches(moto, project):
    (proxy,) = moto
    proxy.begin()
    worker = project(MOTO=proxy.url, MURPHY_LOST_ANSWER="off")
    assert worker.run("tests/test_aws.py::test_direct")["outcome"] == "passed"
    assert all("raises" not in request.murphy for request in proxy.seen)
    worker = project(MOTO=proxy.url, MURPHY_SITE="")
    proxy.begin()
    result = worker.run("tests/test_aws.py::test_missing")
    assert all(not request.murphy for request in proxy.seen)
    assert "assertion" not in result and set(result["exceptions"][0]) == {"type", "message"}


def signature(request, secret="testing"):
    """What AWS computes from the request that it gets (Signature Version 4)."""
    fields = dict(re.findall(r"(Credential|SignedHeaders|Signature)=([^, ]+)", request.headers["authorization"]))
    _, date, region, service, _ = fields["Credential"].split("/")
    path, _, query = request.path.partition("?")
    names = fields["SignedHeaders"].split(";")
    body = request.headers.get("x-amz-content-sha256") or hashlib.sha256(request.body).hexdigest()
    headers = "".join("%s:%s\n" % (name, request.headers[name].strip()) for name in names)
    pairs = "&".join(sorted(part if "=" in part else part + "=" for part in query.split("&") if part))
    canonical = "\n".join([request.method, path, pairs, headers, ";".join(names), body])
    scope = "/".join([date, region, service, "aws4_request"])
    text = "\n".join(["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    assert not any(name.startswith("x-murphy-") for name in names)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), fields["Signature"]


@pytest.mark.parametrize("test", ["test_save", "test_direct", "test_async"])
def test_signatures_hold_without_the_headers(aws, test):
    (request,) = aws(test)["seen"]
    expected, sent = signature(request)
    assert sent == expected
    assert datetime.datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ")


def test_overhead(moto, project):
    """Calls straight to moto, with the library and without it, in turn: what two times 600 calls cost at their best."""
    (proxy,) = moto
    workers = [project(MOTO="http://127.0.0.1:%d" % proxy.upstream, MURPHY_SITE=site) for site in ("", "1")]
    times = [[], []]
    for round in range(7):
        for worker, took in zip(workers, times):
            result = worker.run("tests/test_aws.py::test_many")
            assert result["outcome"] == "passed", result
            took.append(result["took_ms"] / 100)
    without, with_site = (min(took[1:]) for took in times)
    print("\none boto3 put_object: %.3f ms without the library, %.3f ms with it (%.2f times)" % (without, with_site, with_site / without))
    assert with_site < without * 1.15
