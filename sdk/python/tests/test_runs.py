"""Which tests there are, and that each runs again and again as if for the first time."""

import pytest

COUNTS = """
    import pytest

    made = {"function": 0, "class": 0, "module": 0, "session": 0}
    ended = dict.fromkeys(made, 0)

    def counted(scope):
        @pytest.fixture(scope=scope)
        def fixture():
            made[scope] += 1
            yield made[scope]
            ended[scope] += 1
        return fixture

    per_function, per_class, per_module, per_session = (counted(scope) for scope in made)

    class TestCounts:
        def test_it(self, per_function, per_class, per_module, per_session):
            assert not hasattr(self, "used"), "the instance of an earlier run"
            self.used = True
            print("made", *made.values(), "ended", *ended.values())

        def test_other(self, per_class):
            print("made", *made.values(), "ended", *ended.values())

    def test_outside(per_module):
        print("made", *made.values(), "ended", *ended.values())
"""


def counts(result):
    line = next(line for line in result["output"].splitlines() if line.startswith("made "))
    words = line.split()
    return [int(word) for word in words[1:5]], [int(word) for word in words[6:10]]


def test_lists_tests_with_place_and_static_skips(start):
    worker = start(
        {
            "tests/test_a.py": "import pytest\n\ndef test_same(): pass\n\n@pytest.mark.skip(reason='not today')\ndef test_skipped(): pass\n",
            "tests/sub/test_b.py": "def test_same(): pass\n",
            "tests/test_c.py": "import nothing_like_this\n",
            "tests/test_d.py": """
                import pytest, unittest
                @pytest.mark.parametrize("word", ["two words", "übermut", "a/b::c"])
                def test_word(word): print("got", word)
                class TestClass:
                    def test_in_class(self): pass
                class Case(unittest.TestCase):
                    def test_in_case(self): pass
                """,
            "tests/__init__.py": "",
            "tests/sub/__init__.py": "",
        }
    )
    listing = worker.list()
    assert listing["runner"] == "pytest " + pytest.__version__
    tests = {test["id"]: test for test in listing["tests"]}
    assert "tests/test_a.py::test_same" in tests and "tests/sub/test_b.py::test_same" in tests
    assert tests["tests/test_a.py::test_same"] == {"id": "tests/test_a.py::test_same", "file": "tests/test_a.py", "line": 3, "skip": None}
    assert tests["tests/test_a.py::test_skipped"]["skip"] == "not today"
    assert "tests/test_d.py::TestClass::test_in_class" in tests and "tests/test_d.py::Case::test_in_case" in tests
    assert listing["problems"] == ["tests/test_c.py: ModuleNotFoundError: No module named 'nothing_like_this'"]
    words = [name for name in tests if "test_word" in name]
    printed = sorted(worker.run(name)["output"].splitlines()[1] for name in words)
    assert printed == ["got a/b::c", "got two words", "got übermut"]
    for name in ("tests/test_a.py::test_same", "tests/sub/test_b.py::test_same"):
        result = worker.run(name)
        assert (result["outcome"], result["test"]) == ("passed", name)
    assert worker.stop() == 0


def test_a_test_that_is_not_there_is_an_error(start):
    result = start("def test_a(): pass").run("test_it.py::test_b")
    assert (result["outcome"], result["message"]) == ("error", "no test `test_it.py::test_b` was collected")


def test_function_fixtures_anew_and_wider_ones_warm(start):
    worker, name = start(COUNTS), "test_it.py::TestCounts::test_it"
    for run in range(1, 6):
        result = worker.run(name)
        assert result["phases"] == ["setup", "call", "teardown"]
        assert counts(result) == ([run, 1, 1, 1], [run - 1, 0, 0, 0]), result
        assert result["shares"] == ["per_class (class)", "per_module (module)", "per_session (session)"]
    # The other test of the class finds it warm; one outside ends the class, not the module.
    assert counts(worker.run("test_it.py::TestCounts::test_other")) == ([5, 1, 1, 1], [5, 0, 0, 0])
    assert counts(worker.run("test_it.py::test_outside")) == ([5, 1, 1, 1], [5, 1, 0, 0])
    assert counts(worker.run(name)) == ([6, 2, 1, 1], [5, 1, 0, 0])


def test_fresh_fixtures_tears_everything_down(start):
    worker, name = start(COUNTS), "test_it.py::TestCounts::test_it"
    for run in range(1, 4):
        assert counts(worker.run(name, fresh_fixtures=True)) == ([run] * 4, [run - 1] * 4)


def test_stop_tears_warm_fixtures_down(start):
    worker = start(
        """
        import pathlib, pytest
        @pytest.fixture(scope="session")
        def server():
            yield
            pathlib.Path("ended").write_text("yes")
        def test_it(server): assert False
        """
    )
    assert worker.run("test_it.py::test_it")["outcome"] == "failed"
    assert not (worker.directory / "ended").exists()
    assert worker.stop() == 0
    assert (worker.directory / "ended").read_text() == "yes"


def test_parametrised_wide_fixtures_follow_the_test(start):
    worker = start(
        """
        import os, pytest
        @pytest.fixture(scope="module", params=["a", "b"])
        def kind(request):
            os.environ["KIND"] = request.param
            yield request.param
            del os.environ["KIND"]
        def test_it(kind): assert os.environ["KIND"] == kind
        """
    )
    for name in worker.ids() * 3:
        result = worker.run(name)
        assert (result["outcome"], result["changed"]) == ("passed", []), result


def test_unittest_announces_its_own_set_up(start):
    worker = start(
        """
        import os, unittest
        class Case(unittest.TestCase):
            @classmethod
            def setUpClass(cls): cls.warm = True
            def setUp(self): print("in setUp"); self.number = 1
            def tearDown(self): print("in tearDown")
            def test_it(self):
                assert self.number == 1
                self.number = 2
            def test_fails(self): self.assertEqual(1, 2)
            def test_breaks(self): raise KeyError("x")
        class Asynchronous(unittest.IsolatedAsyncioTestCase):
            async def asyncSetUp(self): self.number = 1
            async def test_it(self):
                assert self.number == 1
                self.number = 2
        class Plain(unittest.TestCase):
            def test_it(self): pass
        """
    )
    for _ in range(3):
        result = worker.run("test_it.py::Case::test_it")
        assert (result["outcome"], result["phases"]) == ("passed", ["setup", "call", "teardown", "teardown"]), result
        assert result["shares"] == ["setUpClass (class)"]
        assert worker.run("test_it.py::Asynchronous::test_it")["outcome"] == "passed"
        assert worker.run("test_it.py::Plain::test_it")["shares"] == []
        result = worker.run("test_it.py::Case::test_fails")
        assert (result["outcome"], result["message"]) == ("failed", "AssertionError: 1 != 2"), result
        assert worker.run("test_it.py::Case::test_breaks")["exceptions"] == [{"type": "KeyError", "message": "'x'"}]


def test_asynchronous_tests_run_again(start):
    pytest.importorskip("pytest_asyncio")
    worker = start(
        """
        import asyncio, pytest
        @pytest.fixture
        async def number():
            await asyncio.sleep(0)
            yield 1
        async def test_it(number):
            await asyncio.sleep(0)
            assert number == 1
        @pytest.mark.anyio
        async def test_any(anyio_backend_name): assert anyio_backend_name == "asyncio"
        """,
        "-o",
        "asyncio_mode=auto",
    )
    for name in worker.ids() * 5:
        result = worker.run(name)
        assert (result["outcome"], result["changed"]) == ("passed", []), result


def test_200_runs_leave_memory_and_threads_flat(start):
    worker = start(
        """
        import gc, threading, warnings, pytest
        @pytest.fixture(scope="session")
        def warm(): yield object()
        @pytest.fixture
        def cold(warm, tmp_path, record_property):
            record_property("big", "x" * 100_000)
            (tmp_path / "file").write_text("x")
            yield bytearray(1_000_000)
        def test_it(cold, warm, request):
            request.addfinalizer(lambda: None)
            thread = threading.Thread(target=lambda: None)
            thread.start(); thread.join()
            warnings.warn("again")
            print("x" * 200_000)
            assert len(cold) == 1
        def test_objects():
            gc.collect()
            print("objects", len(gc.get_objects()))
        """
    )

    def objects():
        words = worker.run("test_it.py::test_objects")["output"].split()
        return int(words[words.index("objects") + 1])

    for _ in range(150):
        worker.run("test_it.py::test_it")
    memory, threads, objects_before = worker.memory(), worker.threads(), objects()
    for _ in range(200):
        assert worker.run("test_it.py::test_it")["outcome"] == "failed"
    # Each run holds more than a megabyte, and some are garbage not yet collected, before as after.
    assert worker.memory() - memory < 10_000, "KiB more after 200 runs"
    assert worker.threads() == threads
    assert objects() - objects_before < 100, "not one more for each run"


def test_temporary_directories_are_removed(start, tmp_path):
    worker = start("def test_it(tmp_path): print(tmp_path); assert not list(tmp_path.iterdir()); (tmp_path / 'a').write_text('b')",
                   "--basetemp", str(tmp_path / "base"))
    printed = {worker.run("test_it.py::test_it")["output"] for _ in range(5)}
    assert len(printed) == 1, "the same name each time"
    assert not list((tmp_path / "base").glob("test_it[0-9]*"))


def test_the_same_project_without_murphy_runs_as_ever(start):
    worker = start("def test_it(): assert False", env={"MURPHY_TOKEN": ""})
    assert worker.process.wait(30) == 1
    assert "1 failed" in worker.output()


def test_a_pytest_that_a_test_starts_is_no_worker(start):
    worker = start(
        {
            "test_it.py": """
                import os, subprocess, sys
                def pytest(**variables):
                    command = [sys.executable, "-m", "pytest", "-p", "murphy_worker", "inner.py"]
                    inner = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
                    return inner.stdout + inner.stderr
                def test_it(): assert "1 passed" in pytest()
                def test_murphy_itself():
                    assert "Murphy is gone" in pytest(MURPHY_TOKEN="of another Murphy", MURPHY_CONTROL_URL="http://127.0.0.1:1")
                """,
            "inner.py": "def test_inner(): pass",
        }
    )
    for name in ("test_it", "test_murphy_itself"):
        result = worker.run("test_it.py::" + name)
        assert result["outcome"] == "passed", result["output"]
