import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

collect_ignore = ["project"]
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from control import Worker  # noqa: E402
from proxy import Proxy  # noqa: E402

PROJECT = Path(__file__).resolve().parent / "project"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def started(command, ports, log):
    """A real emulator, once it accepts connections."""
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, cwd=str(log.parent))
    end = time.monotonic() + 90
    for port in ports:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > end:
                    process.kill()
                    raise RuntimeError("%s does not start: %s" % (command[0], log.read_text(errors="replace")[-2000:]))
                time.sleep(0.05)
    return process


def emulator(tmp_path_factory, name, ports, command, dialects):
    folder = tmp_path_factory.mktemp(name)
    process = started(command(ports, folder), ports, folder / "log.txt")
    proxies = [Proxy(port, dialect) for port, dialect in zip(ports, dialects)]
    yield proxies
    for proxy in proxies:
        proxy.close()
    process.kill()
    process.wait()


@pytest.fixture(scope="session")
def moto(tmp_path_factory):
    yield from emulator(
        tmp_path_factory, "moto", [free_port()], lambda ports, _: [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(ports[0])], ["s3"]
    )


@pytest.fixture(scope="session")
def azurite(tmp_path_factory):
    folder = os.environ.get("MURPHY_AZURITE", "")
    script, node = Path(folder) / "node_modules/azurite/dist/src/azurite.js", shutil.which("node")
    if not folder or not script.exists() or node is None:
        pytest.skip("azurite is not installed (npm i azurite): Azure is not tested")

    def command(ports, place):
        services = [part for name, port in zip(("blob", "queue", "table"), ports) for part in ("--%sHost" % name, "127.0.0.1", "--%sPort" % name, str(port))]
        return [node, str(script), *services, "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry", "--silent"]

    yield from emulator(tmp_path_factory, "azurite", [free_port(), free_port(), free_port()], command, ["azure"] * 3)


@pytest.fixture(scope="session")
def gcs(tmp_path_factory):
    pytest.importorskip("gcp_storage_emulator")
    yield from emulator(
        tmp_path_factory,
        "gcs",
        [free_port()],
        lambda ports, _: [sys.executable, "-m", "gcp_storage_emulator", "start", "--host=127.0.0.1", "--port=%d" % ports[0], "--in-memory"],
        ["gcs"],
    )


@pytest.fixture(scope="session")
def plain():
    proxy = Proxy()
    yield proxy
    proxy.close()


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """Starts workers over the project, one for each set of variables; they stay for the session."""
    running = {}

    def worker(**variables):
        key = tuple(sorted(variables.items()))
        if key not in running:
            files = {str(file.relative_to(PROJECT)): file.read_text() for file in PROJECT.rglob("*.py")}
            place = tmp_path_factory.mktemp("project")
            environment = {
                "MURPHY_SITE": "1",
                "MURPHY_PROJECT": str(place / "project"),
                "AWS_ACCESS_KEY_ID": "testing",
                "AWS_SECRET_ACCESS_KEY": "testing",
                "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_EC2_METADATA_DISABLED": "true",
                **variables,
            }
            running[key] = Worker(place, files, env=environment)
        return running[key]

    yield worker
    for one in running.values():
        one.__exit__()
