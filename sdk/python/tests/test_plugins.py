"""Beside other plugins: they work, or what is switched off is named."""

import pytest

FLAKY = """
    import pytest
    runs = []
    @pytest.mark.flaky(reruns=5)
    def test_flaky():
        runs.append(1)
        assert len(runs) % 2 == 0
    def test_passes(): pass
"""


def test_rerunfailures_does_not_run_again(start):
    pytest.importorskip("pytest_rerunfailures")
    worker = start(FLAKY, "--reruns", "3")
    for _ in range(3):
        assert worker.run("test_it.py::test_flaky")["outcome"] == "failed"
        assert worker.run("test_it.py::test_flaky")["outcome"] == "passed"
    assert worker.stop() == 0


@pytest.mark.parametrize("args", [["-n", "2"], ["-n", "auto", "--dist", "loadfile"], ["-n", "0"]])
def test_xdist_is_off(start, args):
    pytest.importorskip("xdist")
    worker = start(FLAKY, *args)
    assert len(worker.ids()) == 2
    assert worker.run("test_it.py::test_passes")["outcome"] == "passed"
    assert ("pytest-xdist is off" in worker.output()) == (args != ["-n", "0"])
    assert worker.stop() == 0


def test_randomly_gives_the_same_test_the_same_numbers(start):
    pytest.importorskip("pytest_randomly")
    worker = start("import random\ndef test_it(): print('number', random.random())")
    assert len({worker.run("test_it.py::test_it")["output"] for _ in range(5)}) == 1


def test_coverage_is_measured(start):
    pytest.importorskip("pytest_cov")
    files = {"shop.py": "def buy():\n    return 1\n", "test_it.py": "import shop\ndef test_it(): assert shop.buy() == 2\n"}
    worker = start(files, "--cov=shop", "--cov-report=term", "--cov-fail-under=100")
    assert worker.run("test_it.py::test_it")["outcome"] == "failed"
    assert worker.stop() == 0, "what failed under a fault fails no build by itself"
    assert "100%" in worker.output(), worker.output()


def test_capture_fixtures_work(start):
    worker = start(
        """
        def test_sys(capsys): print("a"); assert capsys.readouterr().out == "a\\n"
        def test_fd(capfd):
            import os
            os.write(1, b"b"); assert capfd.readouterr().out == "b"
        def test_log(caplog):
            import logging
            logging.warning("c"); assert len(caplog.records) == 1
        """,
        "--capture=sys",
    )
    for name in worker.ids() * 3:
        assert worker.run(name)["outcome"] == "passed"


def test_hooks_of_the_project_run_each_time(start):
    worker = start(
        {
            "conftest.py": """
                import pytest
                @pytest.hookimpl(hookwrapper=True)
                def pytest_runtest_protocol(item, nextitem):
                    item.around = getattr(item, "around", 0) + 1
                    yield
                def pytest_runtest_setup(item): item.before = getattr(item, "before", 0) + 1
                """,
            "test_it.py": "def test_it(request): print('hooks', request.node.around, request.node.before)",
        }
    )
    for run in range(1, 4):
        assert "hooks %d %d" % (run, run) in worker.run("test_it.py::test_it")["output"]
