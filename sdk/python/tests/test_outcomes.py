"""What is said about a test that does not simply pass."""

import time

import pytest


def outcome(result):
    return result["outcome"], result["phase"], result["message"]


def test_a_failure_has_message_chain_output_and_traceback(start):
    worker = start(
        """
        import logging, sys
        class ShopError(Exception): pass
        def buy():
            try:
                raise ConnectionError("refused")
            except ConnectionError as error:
                raise ShopError("no cart\\nsecond line") from error
        def test_raises():
            print("to stdout"); print("to stderr", file=sys.stderr); logging.warning("to the log")
            buy()
        def test_asserts():
            status = 503
            assert status == 200
        """
    )
    for _ in range(2):
        result = worker.run("test_it.py::test_raises")
        assert outcome(result) == ("failed", "call", "test_it.ShopError: no cart")
        assert result["exceptions"] == [
            {"type": "test_it.ShopError", "message": "no cart\nsecond line"},
            {"type": "ConnectionError", "message": "refused"},
        ]
        for text in ("to stdout", "to stderr", "to the log", "ConnectionError: refused", "buy()"):
            assert result["output"].count(text) >= 1, text
        assert result["output"].count("to stdout") == 2, "once as printed, once in the source: nothing of the run before"
        result = worker.run("test_it.py::test_asserts")
        assert outcome(result) == ("failed", "call", "assert 503 == 200")


def test_set_up_and_tear_down_that_fail(start):
    worker = start(
        """
        import pytest
        runs = []
        @pytest.fixture
        def broken(): raise OSError("cannot set up")
        @pytest.fixture
        def untidy():
            yield
            raise OSError("cannot tear down")
        @pytest.fixture(scope="module")
        def first_time_broken():
            runs.append(1)
            if len(runs) == 1: raise OSError("only the first time")
        def test_set_up(broken): pass
        def test_tear_down(untidy): pass
        def test_both(untidy): assert False
        def test_wide(first_time_broken): pass
        """
    )
    for _ in range(3):
        result = worker.run("test_it.py::test_set_up")
        assert outcome(result) == ("error", "setup", "OSError: cannot set up")
        assert result["phases"] == ["setup", "teardown"]
        assert outcome(worker.run("test_it.py::test_tear_down")) == ("error", "teardown", "OSError: cannot tear down")
        result = worker.run("test_it.py::test_both")
        assert outcome(result) == ("failed", "call", "assert False")
        assert "cannot tear down" in result["output"]
    # A wide fixture that failed once is set up anew, and not remembered as broken.
    assert outcome(worker.run("test_it.py::test_wide")) == ("error", "setup", "OSError: only the first time")
    assert worker.run("test_it.py::test_wide")["outcome"] == "passed"


def test_a_tear_down_that_fails_later_is_not_the_next_tests(start):
    worker = start(
        {
            "test_a.py": """
                import os, pytest, urllib.request
                @pytest.fixture(scope="module")
                def server():
                    yield
                    control = os.environ["MURPHY_CONTROL_URL"] + "/v1/executions/e2"
                    headers = {"Authorization": "Bearer " + os.environ["MURPHY_TOKEN"], "traceparent": ""}
                    print(urllib.request.urlopen(urllib.request.Request(control, headers=headers)).read())
                    raise OSError("server does not end")
                def test_it(server): pass
                """,
            "test_b.py": "def test_it(): pass",
        }
    )
    assert worker.run("test_a.py::test_it")["outcome"] == "passed"
    result = worker.run("test_b.py::test_it")
    assert result["outcome"] == "passed"
    assert "tear-down after test_a.py::test_it failed: OSError: server does not end" in result["output"]
    assert worker.control.asked == ["setup"], "no fault is injected into it"


def test_skips_and_expected_failures(start):
    worker = start(
        """
        import pytest
        def test_skips(): pytest.skip("no database")
        @pytest.fixture
        def skipping(): pytest.skip("no network")
        def test_fixture_skips(skipping): pass
        @pytest.mark.xfail(reason="ticket 1")
        def test_expected(): assert False
        @pytest.mark.xfail(reason="ticket 2")
        def test_unexpected(): pass
        @pytest.mark.xfail(strict=True, reason="ticket 3")
        def test_strict(): pass
        @pytest.mark.xfail(raises=KeyError)
        def test_other(): assert False
        """
    )
    for _ in range(2):
        assert outcome(worker.run("test_it.py::test_skips")) == ("skipped", "call", "no database")
        assert outcome(worker.run("test_it.py::test_fixture_skips")) == ("skipped", "setup", "no network")
        assert outcome(worker.run("test_it.py::test_expected")) == ("skipped", "call", "expected to fail: ticket 1")
        assert worker.run("test_it.py::test_unexpected")["outcome"] == "passed"
        assert outcome(worker.run("test_it.py::test_strict")) == ("failed", "call", "[XPASS(strict)] ticket 3")
        assert worker.run("test_it.py::test_other")["outcome"] == "failed"


def test_what_ends_other_sessions_does_not_end_this_one(start):
    worker = start(
        """
        import sys, pytest
        def test_exit(): pytest.exit("enough")
        def test_sys_exit(): sys.exit(3)
        def test_fails(): assert False
        def test_passes(): pass
        """,
        "-x",
        "--pdb",
    )
    assert worker.run("test_it.py::test_exit")["outcome"] == "failed"
    assert worker.run("test_it.py::test_sys_exit")["message"] == "SystemExit: 3"
    for _ in range(3):
        assert worker.run("test_it.py::test_fails")["outcome"] == "failed"
        assert worker.run("test_it.py::test_passes")["outcome"] == "passed"
    assert worker.stop() == 0


def test_messages_that_are_no_text(start):
    worker = start(
        """
        class Mute(Exception):
            def __str__(self): raise RuntimeError("no text")
        def test_mute(): raise Mute()
        def test_half(): raise ValueError("half a pair: \\ud800")
        def test_group():
            group = ExceptionGroup("two", [KeyError("a"), OSError("b")]) if "ExceptionGroup" in dir(__builtins__) or hasattr(__builtins__, "ExceptionGroup") else None
            raise group or OSError("b")
        """
    )
    result = worker.run("test_it.py::test_mute")
    assert result["exceptions"] == [{"type": "test_it.Mute", "message": "(its text cannot be read: RuntimeError)"}]
    assert worker.run("test_it.py::test_half")["message"] == "ValueError: half a pair: ?"
    assert worker.run("test_it.py::test_group")["exceptions"][-1] == {"type": "OSError", "message": "b"}


def test_100_megabytes_printed(start):
    worker = start(
        """
        import os, sys
        def test_it():
            for _ in range(1000): print("x" * 100_000)
            os.write(1, b"the end of stdout\\n")
            print("the end of stderr", file=sys.stderr)
        """,
        "-s",
    )
    worker.run("test_it.py::test_it")
    memory = worker.memory()
    result = worker.run("test_it.py::test_it")
    assert len(result["output"].encode()) <= 64 * 1024
    assert "the end of stderr" in result["output"] and "the end of stdout" in result["output"]
    assert worker.memory() - memory < 3000
    assert len(worker.output()) < 100_000, "nothing of it on Murphy's terminal"


def test_changes_to_the_process_are_reported_and_put_back(start):
    worker = start(
        """
        import os, shutil, tempfile, threading, pytest
        stop = threading.Event()
        @pytest.fixture(scope="session")
        def wide():
            os.environ["WIDE"] = "1"
            thread = threading.Thread(target=stop.wait, daemon=True)
            thread.start()
            yield
            del os.environ["WIDE"]
        def test_changes(wide):
            here = os.getcwd()
            os.environ["HOME"] = "/elsewhere"; os.environ["ADDED"] = "1"; del os.environ["SHELL_OF_TEST"]
            for _ in range(2): threading.Thread(target=stop.wait, daemon=True).start()
            away = tempfile.mkdtemp(); os.chdir(away); shutil.rmtree(away)
        def test_clean(wide):
            assert os.environ["WIDE"] == "1" and os.environ["SHELL_OF_TEST"] == "a" and "ADDED" not in os.environ
            assert os.path.exists("test_it.py")
        def test_tidy(monkeypatch, tmp_path):
            monkeypatch.chdir(tmp_path); monkeypatch.setenv("HOME", "x")
            thread = threading.Thread(target=lambda: None); thread.start()
        """,
        env={"SHELL_OF_TEST": "a"},
    )
    for _ in range(2):
        result = worker.run("test_it.py::test_changes")
        assert result["changed"] == ["working directory", "environment: ADDED, HOME, SHELL_OF_TEST", "threads: 2"]
        assert worker.run("test_it.py::test_clean")["outcome"] == "passed"
        result = worker.run("test_it.py::test_tidy")
        assert (result["outcome"], result["changed"]) == ("passed", [])
    assert worker.run("test_it.py::test_clean", fresh_fixtures=True)["changed"] == []
    assert worker.run("test_it.py::test_clean", fresh_fixtures=True)["changed"] == []


def test_failed_subtests_fail_the_test(start):
    if int(pytest.__version__.split(".")[0]) < 9:
        pytest.skip("pytest has subtests from version 9 on")
    worker = start(
        """
        import os
        def test_it(subtests):
            for number in range(3):
                with subtests.test(number=number): assert number != int(os.environ.get("BAD", 1))
        def test_good(subtests):
            with subtests.test(): pass
        """
    )
    for _ in range(2):
        result = worker.run("test_it.py::test_it")
        assert result["outcome"] == "failed" and result["message"] == "assert 1 != 1", result
        assert result["exceptions"][0]["type"] == "AssertionError"
        assert worker.run("test_it.py::test_good")["outcome"] == "passed"


def test_a_test_that_ends_the_process(start):
    worker = start("import os\ndef test_it(): os._exit(7)\ndef test_fork():\n    if os.fork() == 0: raise SystemError('in the child')\n    os.wait()")
    assert worker.run("test_it.py::test_fork")["outcome"] == "passed", "what the child does is not reported"
    assert worker.run("test_it.py::test_fork")["outcome"] == "passed"
    worker.order("test_it.py::test_it")
    assert worker.process.wait(30) == 7


def test_a_test_that_hangs_can_be_killed(start):
    worker = start("import time\ndef test_it(): time.sleep(1000)")
    execution = worker.order("test_it.py::test_it")
    end = time.monotonic() + 30
    while worker.control.phases.get(execution) != ["setup", "call"] and time.monotonic() < end:
        time.sleep(0.01)
    worker.process.kill()
    assert worker.process.wait(10) == -9
