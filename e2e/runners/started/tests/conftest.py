import contextlib
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

import pytest

SERVICE = pathlib.Path(__file__).parent.parent / "service.py"


def behind_murphy(name, upstream):
    """The address to call instead of `upstream` ("127.0.0.1:49153")."""
    control = os.environ.get("MURPHY_CONTROL_URL")
    if control is None:
        return "http://" + upstream
    request = urllib.request.Request(
        control + "/v1/services",
        json.dumps({"name": name, "upstream": upstream}).encode(),
        {"Authorization": "Bearer " + os.environ["MURPHY_TOKEN"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["url"]


@contextlib.contextmanager
def service(name, *callees):
    """A process on a port of its own choice, where a project would have a container."""
    process = subprocess.Popen([sys.executable, str(SERVICE), name, *callees], stdout=subprocess.PIPE, text=True)
    try:
        yield behind_murphy(name, "127.0.0.1:" + process.stdout.readline().strip())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="session")
def shop():
    with service("cart") as cart, service("shop", cart) as shop:
        yield shop
