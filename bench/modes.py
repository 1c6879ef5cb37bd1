"""What the default modes find, next to the sets `http` and `grpc`; see bench/modes."""

import json
import pathlib
import subprocess
import sys
import tempfile

MURPHY = pathlib.Path(sys.argv[1]).resolve()
SHOPS = ["flask-shop", "express-shop"]

# Switches that plant bugs, or change the wire; every system is also taken as it is.
VARIANTS = [
    ("netflix", "bugs=on"),
    ("purchase", "bugs=on"),
    ("purchase", "dependencies=hard"),
    ("purchase", "wire=grpc"),
    ("purchase", "wire=grpc,bugs=on"),
    ("micro", "wire=grpc"),
]


def result(arguments, directory):
    """What a campaign says in JSON."""
    done = subprocess.run([MURPHY, *arguments, "--format", "json"], cwd=directory, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"murphy {' '.join(arguments)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def compare(name, arguments, directory, before):
    """One row: the default, then what was the default before."""
    new = result(arguments, directory)
    old = result(arguments + ["--modes", before], directory)
    rows = [Row(new), Row(old)]
    lost, gained = rows[1].bugs - rows[0].bugs, rows[0].bugs - rows[1].bugs
    marks = [f"only the default: {len(gained)}"] * bool(gained) + [f"only `{before}`: {len(lost)}"] * bool(lost)
    print(f"{name:34} {rows[0]}   {rows[1]}   {'; '.join(marks)}".rstrip())
    return rows, len(gained), len(lost)


class Row:
    def __init__(self, result):
        self.executions = result["explored"]
        self.bugs = {it["id"] for it in result["findings"] if it["severity"] == "fail"}
        self.warnings = sum(it["severity"] == "warn" for it in result["findings"])

    def __str__(self):
        return f"{self.executions:>10} {len(self.bugs):>8} {self.warnings:>8}"


def systems():
    listed = subprocess.run([MURPHY, "demo", "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")]
    return [(name, "") for name in names] + VARIANTS


def demos():
    with tempfile.TemporaryDirectory() as directory:
        for name, switches in systems():
            before = "grpc" if "wire=grpc" in switches else "http"
            arguments = ["demo", name, "--simulate"] + (["--set", switches] if switches else [])
            yield compare(f"{name} {switches}", arguments, directory, before)


def shops():
    for shop in SHOPS:
        directory = pathlib.Path("examples") / shop
        yield compare(shop, ["run", "checkout", "--jobs", "2"], directory, "http")


columns = f"{'executions':>10} {'findings':>8} {'warnings':>8}"
print(f"{'':34} {'default':>28}   {'before':>28}\n{'':34} {columns}   {columns}")
rows = list(shops() if "--shops" in sys.argv else demos())
for at, name in enumerate(["default", "before"]):
    sides = [both[at] for both, _, _ in rows]
    executions, findings = sum(it.executions for it in sides), sum(len(it.bugs) for it in sides)
    warnings = sum(it.warnings for it in sides)
    rate = findings / executions * 100
    print(f"{name}: {findings} findings, {warnings} warnings in {executions} executions; {rate:.1f} findings in 100")
print(f"found only by the default: {sum(row[1] for row in rows)}; only by the modes of before: {sum(row[2] for row in rows)}")
