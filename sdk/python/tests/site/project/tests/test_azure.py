import asyncio

import pytest
from shop import cloud


@pytest.fixture(scope="session", autouse=True)
def made(): cloud.make()


SHORT = dict(read_timeout=0.3, retry_total=0)


def test_save(): cloud.save("a")
def test_send(): cloud.send("job")
def test_record(): cloud.record("1")
def test_async(): asyncio.run(cloud.save_async("a"))
def test_short(): cloud.write("short", **SHORT)
def test_short_async(): asyncio.run(cloud.write_async("short", **SHORT))
def test_missing(): cloud.blobs().download_blob("nothing").readall()


def test_wrong_key():
    from azure.storage.blob import BlobServiceClient

    text = cloud.connection().replace("AccountKey=Eby8", "AccountKey=Eby9")
    BlobServiceClient.from_connection_string(text, retry_total=0).get_container_client("files").upload_blob("a", b"")
