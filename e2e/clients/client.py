"""Asks for a price as one client does: python client.py NAME. It fails where the answer is no price."""

import sys

URL = "https://prices.test/tea"
PRICE = b'{"price": 3}'


def by_urllib():
    import urllib.request

    return urllib.request.urlopen(URL).read()


def by_requests():
    import requests

    answer = requests.get(URL)
    answer.raise_for_status()
    return answer.content


def by_httpx():
    import httpx

    return httpx.get(URL).raise_for_status().content


def by_aiohttp():
    import asyncio

    import aiohttp

    async def ask():
        async with aiohttp.ClientSession(trust_env=True, raise_for_status=True) as session:
            async with session.get(URL) as answer:
                return await answer.read()

    return asyncio.run(ask())


def by_boto3():
    import boto3
    from botocore.config import Config

    once = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
    store = boto3.client(
        "s3",
        endpoint_url="https://prices.test",
        region_name="eu-central-1",
        aws_access_key_id="nobody",
        aws_secret_access_key="nothing",
        config=once,
    )
    return store.get_object(Bucket="shop", Key="tea")["Body"].read()


def by_grpcio():
    import grpc

    with grpc.secure_channel("grpc.test:443", grpc.ssl_channel_credentials()) as channel:
        echo = channel.unary_unary("/shop.Prices/Get", lambda text: text, lambda text: text)
        return echo(PRICE, timeout=10)


price = globals()[f"by_{sys.argv[1]}"]()
assert price == PRICE, price
