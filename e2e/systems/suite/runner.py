"""A test runner of its own that speaks the worker protocol.

`--list` and `--one ID` run its tests without it.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

SHOP = os.environ["SHOP"]
RUNS = {}
CONTEXT = {}


def get(path):
    try:
        with urllib.request.urlopen(urllib.request.Request(SHOP + path, headers=CONTEXT), timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


def needs_the_cart():
    assert get("/cart") == 200, "the cart is gone"


def does_without():
    assert get("/soft") == 200, "soft means soft"


def only_says_hello():
    assert get("/hello") == 200


def is_broken():
    assert get("/cart") == 418, "no teapot"


def fills_up():
    """Passes eight times in a process, whatever fails."""
    RUNS["fills_up"] = RUNS.get("fills_up", 0) + 1
    assert get("/soft") == 200
    assert RUNS["fills_up"] <= 8, "full"


def calls_once():
    """Calls nobody the second time in a process."""
    if not RUNS.get("calls_once"):
        needs_the_cart()
    RUNS["calls_once"] = True


def dies():
    if get("/cart") != 200:
        os._exit(7)


def hangs():
    if get("/cart") != 200:
        time.sleep(1000)


TESTS = {test.__name__: test for test in (needs_the_cart, does_without, only_says_hello, is_broken, fills_up, calls_once, dies, hangs)}


def outcome(test, order, tell):
    CONTEXT.update(order["headers"])
    tell("PUT", "/v1/executions/%s/phase" % order["execution"], {"name": "call"})
    try:
        TESTS[test]()
        return {"outcome": "passed"}
    except AssertionError as error:
        return {"outcome": "failed", "phase": "call", "message": str(error), "output": "it said: %s" % error}
    finally:
        CONTEXT.clear()


def work():
    address = urllib.parse.urlsplit(os.environ["MURPHY_CONTROL_URL"]).netloc
    connection = http.client.HTTPConnection(address)
    headers = {"Authorization": "Bearer " + os.environ["MURPHY_TOKEN"]}

    def tell(method, path, body=None):
        connection.request(method, path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        text = answer.read()
        return json.loads(text) if text else {}

    while True:
        order = tell("GET", "/v1/worker/next?worker=0")
        if order.get("do") == "stop":
            return
        if order.get("do") == "list":
            tests = [{"id": test} for test in TESTS] + [{"id": "later", "skip": "not yet"}]
            tell("POST", "/v1/worker/tests", {"runner": "runner.py 1", "tests": tests, "problems": ["half.py: SyntaxError"]})
        if order.get("do") == "run":
            result = {"execution": order["execution"], "test": order["test"]}
            tell("POST", "/v1/worker/result", {**result, **outcome(order["test"], order, tell)})


if sys.argv[1:2] == ["--list"]:
    print("needs_the_cart", "does_without", sep="\n")
elif sys.argv[1:2] == ["--one"]:
    TESTS[sys.argv[2]]()
else:
    work()
