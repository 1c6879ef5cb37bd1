"""Runs the suites of the two example shops in runners that stay alive (pytest, mocha) and, side by side, with a process per
execution: executions per second, and whether both ways say the same of every faultload. Fails where a bar is missed or they do not.

Before: examples/flask-shop/setup and examples/express-shop/setup. For figures to be kept let nothing else run; the load is
printed. One round takes about 10 minutes:

    bench/runner --rounds 3 | tee bench/runs/DATE-MACHINE/runner.txt
    bench/runner --memory 500 | tee bench/runs/DATE-MACHINE/runner-memory.txt
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import runner_memory

EXAMPLES = pathlib.Path("examples")

# A shop, its runner, and how many times as many executions per second there must be.
SHOPS = [("flask-shop", "pytest", 8), ("express-shop", "mocha", 3)]



class Campaign:
    """What was said of one test under faults."""

    def __init__(self, result, events):
        self.certificate = result["complete"], result["explored"]
        self.findings = {it["id"] for it in result["findings"]}
        self.took_ms = result["timing"]["total_ms"]
        self.verdicts = {}
        for line in events.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "execution_ended":
                execution = event["observed"]["execution"]
                self.verdicts[json.dumps(execution["faultload"])] = json.dumps(execution["verdict"])

    @property
    def explored(self):
        return self.certificate[1]


class Suite:
    """All tests of a shop, run one way."""

    def __init__(self, murphy, shop, more):
        with tempfile.TemporaryDirectory() as directory:
            directory = pathlib.Path(directory)
            reports = [f"--report=json={directory}/r.json", f"--report=events={directory}/r.ndjson"]
            command = [murphy, "run", "suite", "--jobs", "1", "--quiet", *reports, *more]
            began = time.monotonic()
            done = subprocess.run(command, cwd=EXAMPLES / shop, capture_output=True, text=True)
            self.wall_s = time.monotonic() - began
            # The shops have bugs, which is what they are for.
            if done.returncode != 1:
                sys.exit(f"{shop}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            self.tests = {}
            for path in directory.glob("*.json"):
                result = json.loads(path.read_text())
                self.tests[result["scenario"]] = Campaign(result, path.with_suffix(".ndjson"))
        self.executions = sum(it.explored for it in self.tests.values())
        self.rate = self.executions / sum(it.took_ms for it in self.tests.values()) * 1e3


def differences(warm, fresh):
    """Lines about tests of which the two say different things."""
    for test in sorted(warm.tests.keys() | fresh.tests.keys()):
        both = warm.tests.get(test), fresh.tests.get(test)
        if None in both:
            yield f"{test}: searched in one way only"
            continue
        for what in ["certificate", "findings"]:
            here, there = (getattr(it, what) for it in both)
            if here != there:
                yield f"{test}: {what}: {here} warm, {there} fresh"
        here, there = (it.verdicts for it in both)
        for faultload in sorted(here.keys() | there.keys()):
            if here.get(faultload) != there.get(faultload):
                yield f"{test} {faultload}: {here.get(faultload)} warm, {there.get(faultload)} fresh"


def compare(murphy, shop, runner, bar, rounds):
    """Prints a row for a shop; whether its bar is met and both ways say the same."""
    pairs = []
    for _ in range(rounds):
        pairs.append((Suite(murphy, shop, []), Suite(murphy, shop, ["--fresh"])))
    different = [line for pair in pairs for line in differences(*pair)]
    median = lambda of: statistics.median(of(*pair) for pair in pairs)
    ratio = median(lambda warm, fresh: warm.rate / fresh.rate)
    columns = [
        f"{shop:14}{runner:8}{len(pairs[0][0].tests):5}{pairs[0][0].executions:11}",
        f"{median(lambda warm, _: warm.rate):9.1f}{median(lambda _, fresh: fresh.rate):9.1f}{ratio:8.1f}x{bar:5}x ",
        f"{'ok' if ratio >= bar else 'MISSED':8}",
        f"{median(lambda warm, _: warm.wall_s):7.1f}{median(lambda _, fresh: fresh.wall_s):9.1f}",
        f"   {'all the same' if not different else f'{len(different)} DIFFERENT'}",
    ]
    print("".join(columns), flush=True)
    for line in different:
        print(f"  {line}")
    return ratio >= bar and not different


def main():
    parser = argparse.ArgumentParser(prog="bench/runner", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("murphy", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3, help="how many; medians are printed (default: 3)")
    parser.add_argument("--report-only", action="store_true", help="do not fail where a bar is missed or verdicts differ")
    parser.add_argument("--memory", type=int, metavar="TESTS", help="in place of that: whether Murphy and a runner keep to their memory over so many tests with 20 executions each (500: about 15 minutes)")
    typed = parser.parse_args()
    if typed.memory:
        return 0 if runner_memory.measure(typed.murphy.resolve(), typed.memory) or typed.report_only else 1
    print(f"executions per second of the search at one job, {typed.rounds} rounds; load {os.getloadavg()[0]:.1f}")
    print("the whole command in seconds: with services that start and the first look at every test")
    print(f"{'':38}{'per second':>18}{'':23}{'whole command':>16}   verdict of every")
    print(f"{'shop':14}{'runner':8}tests executions     warm    fresh    ratio   bar            warm    fresh   faultload, findings, certificates")
    good = [compare(typed.murphy.resolve(), *shop, typed.rounds) for shop in SHOPS]
    print(f"load at the end {os.getloadavg()[0]:.1f}")
    return 0 if all(good) or typed.report_only else 1


sys.exit(main())
