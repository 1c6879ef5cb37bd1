"""The other end of the wire: Murphy that waits, refuses, or is gone."""

import time


WARM = """
    import pathlib, pytest, time
    @pytest.fixture(scope="session")
    def server():
        yield
        pathlib.Path("ended").write_text("yes")
    def test_it(server): pass
    def test_slow(server): time.sleep(1)
"""


def gone(worker):
    worker.process.wait(30)
    assert (worker.directory / "ended").exists(), "warm fixtures are torn down"
    assert "murphy: Murphy is gone (" in worker.output(), worker.output()


def test_no_news_is_asked_again(start):
    worker = start(WARM)
    worker.control.poll = 0.05
    time.sleep(0.5)
    for _ in range(3):
        assert worker.run("test_it.py::test_it")["outcome"] == "passed"
        time.sleep(0.2)


def test_a_result_that_was_given_up_is_dropped(start):
    worker = start(WARM)
    for status in (409, 404):
        worker.control.refuse_result["e%d" % (worker.number + 1)] = status
        worker.order("test_it.py::test_it")
        assert worker.run("test_it.py::test_it")["outcome"] == "passed"


def test_tests_that_nobody_waits_for_are_dropped(start):
    worker = start(WARM)
    worker.control.refuse_tests = 409
    worker.control.orders.put({"do": "list"})
    assert len(worker.ids()) == 2


def test_a_result_that_is_too_long_is_sent_shorter(start):
    worker = start("def test_it():\n    print('x' * 50_000)\n    assert False")
    worker.control.refuse_result["e1"] = 413
    result = worker.run("test_it.py::test_it")
    assert result["outcome"] == "failed" and len(result["output"]) == 1024


def test_murphy_ends_while_the_worker_waits(start):
    worker = start(WARM)
    worker.run("test_it.py::test_it")
    worker.control.close()
    gone(worker)


def test_murphy_ends_while_a_test_runs(start):
    worker = start(WARM)
    worker.run("test_it.py::test_it")
    worker.order("test_it.py::test_slow")
    time.sleep(0.4)
    worker.control.close()
    gone(worker)


def test_a_wrong_token_ends_the_worker(start, monkeypatch):
    monkeypatch.setattr("control.TOKEN", "one that Murphy does not know")
    worker = start(WARM)
    monkeypatch.undo()
    assert worker.process.wait(30) == 1
    assert "murphy: Murphy does not accept MURPHY_TOKEN: ending pytest" in worker.output()
