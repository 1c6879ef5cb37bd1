import asyncio
import functools
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import boto3


@functools.lru_cache(None)
def client(name, short=False):
    from botocore.config import Config

    config = Config(read_timeout=0.3, retries={"max_attempts": 0}) if short else None
    return boto3.client(name, endpoint_url=os.environ["MOTO"], config=config)


def call(name, operation, **arguments):
    """The wrapper through which everything goes."""
    return getattr(client(name), operation)(**arguments)


def make():
    call("s3", "create_bucket", Bucket="shop-files")


def put(key, body):
    return call("s3", "put_object", Bucket="shop-files", Key=key, Body=body)


def save(key):
    return put(key, b"body of " + key.encode())


def in_thread(key):
    thread = threading.Thread(target=save, args=(key,))
    thread.start()
    thread.join()


def in_pool(keys):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(save, keys))


def upload(path):
    client("s3").upload_file(path, "shop-files", "uploaded")


def outer_sleep(seconds):
    begun = time.monotonic()
    time.sleep(seconds)
    return time.monotonic() - begun


def table():
    return call("dynamodb", "create_table", TableName="t", BillingMode="PAY_PER_REQUEST",
                KeySchema=[dict(AttributeName="k", KeyType="HASH")], AttributeDefinitions=[dict(AttributeName="k", AttributeType="S")])


async def async_put(key, **config):
    from aiobotocore.session import get_session
    from aiobotocore.config import AioConfig

    async with get_session().create_client("s3", endpoint_url=os.environ["MOTO"], config=AioConfig(**config) if config else None) as s3:
        return await s3.put_object(Bucket="shop-files", Key=key, Body=b"async")


async def async_save(key):
    return await async_put(key)


async def gathered(keys):
    await asyncio.gather(*(async_save(key) for key in keys))


def from_thread(key):
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(async_save(key), loop).result(30)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
