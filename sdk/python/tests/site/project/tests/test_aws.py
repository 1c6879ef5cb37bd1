import asyncio
import subprocess
import sys
import os

import pytest
from shop import aws


@pytest.fixture(scope="session", autouse=True)
def bucket():
    aws.make()


@pytest.fixture
def stored():
    aws.save("fixture")
    yield
    aws.save("teardown")


def test_save(): aws.save("a")
def test_thread(): aws.in_thread("thread")
def test_pool(): aws.in_pool(["one", "two", "three"])
def test_fixture(stored): aws.save("in-call")
def test_direct(): aws.client("s3").list_objects_v2(Bucket="shop-files")
def test_async(): asyncio.run(aws.async_save("async"))
def test_gather(): asyncio.run(aws.gathered(["g1", "g2"]))
def test_threadsafe(): aws.from_thread("threadsafe")
def test_table(): aws.table()
def test_read(): assert aws.call("s3", "get_object", Bucket="shop-files", Key="a")["Body"].read() == b"body of a"
def test_missing(): aws.call("s3", "get_object", Bucket="shop-files", Key="nothing")
def test_wrong(): assert len(aws.save("x")["ETag"]) == 7
def test_sleep(): assert aws.outer_sleep(0.2) >= 0.2


def test_upload(tmp_path):
    file = tmp_path / "big"
    file.write_bytes(b"x" * (9 << 20))
    aws.upload(str(file))


def test_lambda(): (lambda: aws.save("lambda"))()


def test_child():
    subprocess.run([sys.executable, "-c", "from shop import aws; aws.save('child')"], check=True, cwd=os.environ["MURPHY_PROJECT"])


def test_wrapped():
    try:
        aws.save("wrapped")
    except Exception as error:
        raise KeyError("not found") from error


SHORT = dict(read_timeout=0.3, retries={"max_attempts": 0})


def test_short(): aws.client("s3", short=True).put_object(Bucket="shop-files", Key="short", Body=b"")
def test_short_async(): asyncio.run(aws.async_put("short", **SHORT))


def test_many():
    for number in range(100):
        aws.save("many")
