"""What Murphy and a runner that stays alive take of memory while many tests are searched; see bench/runner --memory."""

import collections
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# With as many statuses a test has 20 executions: without a fault, and one for each.
STATUSES = (400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 500, 501, 502, 503, 504)
EXECUTIONS = 1 + len(STATUSES)
# From the first fifth of the tests on. A summary of each test is kept for the table at the end; what a runner caches is bounded.
MOST_PER_TEST_KIB = {"Murphy": 64, "runner": 16}
# What an allocator takes at once says nothing.
SLACK_KIB = 4 * 1024

CONFIG = """
[services.cart]
command = "python3 service.py cart {{port}}"

[services.shop]
command = "python3 service.py shop {{port}} {{cart.url}}"

[scenario.suite]
command = "{python} -m pytest -q -p no:cacheprovider"
each = true
env = {{ SHOP = "{{shop.url}}" }}
timeout = "120s"

[search]
modes = [{modes}]

[oracles]
timeout_inversion = "off"
"""
TESTS = """
import os, urllib.request
import pytest

@pytest.fixture
def data():
    return {{str(number): number for number in range(1000)}}

@pytest.mark.parametrize("number", range({tests}))
def test_soft(number, data):
    with open("runs", "w") as runs:
        runs.write(str(os.getpid()))
    with urllib.request.urlopen(os.environ["SHOP"] + "/soft", timeout=60) as answer:
        assert answer.status == 200
"""


def resident_kib(pid):
    for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise OSError("it has ended")


def project(folder, tests):
    made = subprocess.run([ROOT / "sdk/python/test", "--install", "9"], capture_output=True, text=True, check=True)
    python = pathlib.Path(made.stdout.split()[-1]).resolve() / "bin/python"
    shutil.copy(ROOT / "e2e/systems/suite/service.py", folder)
    (folder / "murphy.toml").write_text(CONFIG.format(python=python, modes=", ".join(map(str, STATUSES))))
    (folder / "test_soft.py").write_text(TESTS.format(tests=tests))


def samples(murphy, folder):
    """Pairs of how many tests had begun and what each of the two took then."""
    taken = {"Murphy": [], "runner": []}
    log = folder / "messages"
    with open(log, "w") as messages:
        command = [murphy, "run", "suite", "--jobs", "1", "--max-faults", "1", "--no-reduce", "modes"]
        running = subprocess.Popen(command, cwd=folder, stdout=messages, stderr=messages)
        while running.poll() is None:
            time.sleep(0.05)
            begun = log.read_text().count("\nscenario `")
            try:
                pid = int((folder / "runs").read_text() or 0)
                taken["Murphy"].append((begun, running.pid, resident_kib(running.pid)))
                taken["runner"].append((begun, pid, resident_kib(pid)))
            except (OSError, ValueError):
                pass  # between two of them
    if running.returncode != 0:
        raise SystemExit("exit code %d\n%s" % (running.returncode, log.read_text()[-4000:]))
    return taken


def of_the_warm_one(taken):
    """Now and then a test runs in a new process, too."""
    pids = collections.Counter(pid for begun, pid, _ in taken if begun)
    warm = pids.most_common(1)[0][0]
    return [(begun, kib) for begun, pid, kib in taken if begun and pid == warm]


def measure(murphy, tests):
    """Prints what both took over the tests; whether it was flat."""
    with tempfile.TemporaryDirectory(prefix="murphy-memory-") as folder:
        folder = pathlib.Path(folder)
        project(folder, tests)
        began = time.monotonic()
        taken = samples(murphy, folder)
        took = time.monotonic() - began
    print(f"resident memory while {tests} tests are searched with {EXECUTIONS} executions each; {took:.0f} s; load {os.getloadavg()[0]:.1f}")
    marks = sorted({max(1, tests * part // 5) for part in range(1, 6)})
    print(f"{'MiB, median of':18}" + "".join(f"{'test %d' % mark:>10}" for mark in marks) + "   growth per test")
    good = True
    for who, most in MOST_PER_TEST_KIB.items():
        seen = of_the_warm_one(taken[who])
        at = {mark: around(seen, mark) for mark in marks}
        grown = at[marks[-1]] - at[marks[0]]
        is_flat = grown <= SLACK_KIB + most * (marks[-1] - marks[0])
        good = good and is_flat
        columns = "".join(f"{at[mark] / 1024:10.1f}" for mark in marks)
        print(f"{who:18}{columns}   {grown / (marks[-1] - marks[0]):6.1f} KiB  {'ok' if is_flat else 'MISSED'} (at most {most} KiB, and {SLACK_KIB // 1024} MiB in all)")
    return good


def around(seen, mark):
    """The median of what was taken while the tests before this one were searched."""
    nearest = max(begun for begun, _ in seen if begun <= mark)
    there = sorted(kib for begun, kib in seen if begun == nearest)
    return there[len(there) // 2]
