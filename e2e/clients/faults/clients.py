"""Lets every client ask once, at the same time, and writes down what each of them saw, one line each.

python clients.py DOOR_URL, with the file to be written in SEEN, and in PATIENCE how many seconds clients wait for an answer.
A line is the client, and the status, the exit code, or the kind of exception with the one that is behind it. "later": the
answer took as long as it was delayed.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import aiohttp
import grpc
import httpx
import requests

URL = "https://prices.test/tea"
PRICE = b'{"price": 3}'
PATIENCE = float(os.environ["PATIENCE"])
DELAY = 0.7
door = sys.argv[1]


def read(status, body):
    if status != 200:
        return f"{status} {body.decode()!r}"
    return "ok" if json.loads(body) == {"price": 3} else f"200 {body!r}"


def curl(version):
    def ask():
        command = ["curl", "-sS", version, "--max-time", str(PATIENCE), "-w", " %{http_code}", URL]
        done = subprocess.run(command, capture_output=True, text=True)
        body, _, status = done.stdout.rpartition(" ")
        fine = done.returncode == 0 and status == "200"
        if fine and body == PRICE.decode():
            return "ok"
        # curl does not look at a body.
        return f"exit code {done.returncode}, status {status}, {body!r}"

    return ask


def by_urllib():
    import urllib.request

    with urllib.request.urlopen(URL, timeout=PATIENCE) as answer:
        return read(answer.status, answer.read())


def by_requests():
    answer = requests.get(URL, timeout=PATIENCE)
    return read(answer.status_code, answer.content)


def by_httpx(http2):
    def ask():
        with httpx.Client(http2=http2, timeout=PATIENCE) as client:
            answer = client.get(URL)
            assert answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
            return read(answer.status_code, answer.content)

    return ask


def by_aiohttp():
    async def ask():
        wait = aiohttp.ClientTimeout(total=PATIENCE)
        async with aiohttp.ClientSession(trust_env=True, timeout=wait) as session:
            async with session.get(URL) as answer:
                return read(answer.status, await answer.read())

    return asyncio.run(ask())


def price_of(message):
    # Exceptions while reading a message are the client's own business: INTERNAL.
    assert message == PRICE
    return message


def by_grpcio():
    with grpc.secure_channel("grpc.test:443", grpc.ssl_channel_credentials()) as channel:
        echo = channel.unary_unary("/shop.Prices/Get", lambda text: text, price_of)
        try:
            echo(PRICE, timeout=PATIENCE)
        except grpc.RpcError as error:
            return error.code().name
        return "ok"


def runtime(*command):
    def ask():
        done = subprocess.run([*command, str(PATIENCE)], capture_output=True, text=True)
        return done.stdout.strip() or f"exit code {done.returncode}: {done.stderr}"

    return ask


def innermost(error):
    """The exception that all others are about."""
    context = None if error.__suppress_context__ else error.__context__
    inside = [error.__cause__, context, getattr(error, "reason", None), *error.args]
    for it in inside:
        if isinstance(it, Exception) and it is not error:
            return innermost(it)
    return error


def outcome(ask):
    try:
        return ask()
    except Exception as error:
        names = type(error).__name__, type(innermost(error)).__name__
        return names[0] if names[0] == names[1] else f"{names[0]} of {names[1]}"


def seen(client):
    name, ask = client
    began = time.monotonic()
    line = outcome(ask)
    late = line == "ok" and time.monotonic() - began >= DELAY
    return f"{name:23} {line}{', later' if late else ''}\n"


clients = {
    "curl HTTP/1.1": curl("--http1.1"),
    "curl HTTP/2": curl("--http2"),
    "urllib": by_urllib,
    "requests": by_requests,
    "httpx HTTP/1.1": by_httpx(False),
    "httpx HTTP/2": by_httpx(True),
    "aiohttp": by_aiohttp,
    "grpcio": by_grpcio,
    "Node fetch": runtime("node", "client.mjs", "fetch", f"{door}/tea"),
    "Node https": runtime("node", "client.mjs", "https", f"{door}/tea"),
    "Node http2": runtime("node", "client.mjs", "http2", f"{door}/tea"),
}
if classes := os.environ.get("CLASSES"):
    clients["Java HTTP/1.1"] = runtime("java", "-cp", classes, "Client", "HTTP_1_1", URL)
    clients["Java HTTP/2"] = runtime("java", "-cp", classes, "Client", "HTTP_2", URL)
if shutil.which("ask"):
    clients["reqwest HTTP/1.1"] = runtime("ask", "HTTP/1.1", URL)
    clients["reqwest HTTP/2"] = runtime("ask", "HTTP/2", URL)
if not shutil.which("curl"):
    clients = {name: ask for name, ask in clients.items() if not name.startswith("curl")}
with ThreadPoolExecutor(len(clients)) as pool:
    lines = list(pool.map(seen, clients.items()))
with open(os.environ["SEEN"], "w") as file:
    file.writelines(lines)
