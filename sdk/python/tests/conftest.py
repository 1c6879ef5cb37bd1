import pytest
from control import Worker


@pytest.fixture
def start(tmp_path):
    """Starts a worker over the given files; it is killed after the test, whatever happened."""
    running = []

    def begin(files, *args, env=None):
        if isinstance(files, str):
            files = {"test_it.py": files}
        worker = Worker(tmp_path / str(len(running)), files, args, env)
        running.append(worker)
        return worker

    yield begin
    for worker in running:
        worker.__exit__()
