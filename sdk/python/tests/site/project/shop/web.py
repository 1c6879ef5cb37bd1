"""Every HTTP client once, with a time-out that a test can wait for."""
import asyncio
import http.client
import os
import urllib.parse
import urllib.request

URL = os.environ.get("WEB", "")
PLACE = urllib.parse.urlsplit(URL).netloc
SHORT = 0.3


def with_http_client(timeout=SHORT):
    connection = http.client.HTTPConnection(PLACE, timeout=timeout)
    connection.request("GET", "/http.client")
    return connection.getresponse().read()


def with_urllib():
    return urllib.request.urlopen(URL + "/urllib", timeout=SHORT).read()


def with_urllib3():
    import urllib3

    return urllib3.PoolManager().request("GET", URL + "/urllib3", timeout=SHORT, retries=False).data


def with_retries():
    import urllib3

    retry = urllib3.Retry(3, backoff_factor=20, status_forcelist=[503])
    return urllib3.PoolManager().request("GET", URL + "/urllib3", timeout=SHORT, retries=retry).data


def with_requests():
    import requests

    return requests.get(URL + "/requests", timeout=SHORT).content


def with_httpx():
    import httpx

    return httpx.get(URL + "/httpx", timeout=SHORT).content


def with_httpx_async():
    import httpx

    async def go():
        async with httpx.AsyncClient(timeout=SHORT) as client:
            return (await client.get(URL + "/httpx")).content

    return asyncio.run(go())


def with_aiohttp(**bounds):
    import aiohttp

    async def go():
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(**bounds)) as session:
            async with session.get(URL + "/aiohttp") as answer:
                return await answer.read()

    return asyncio.run(go())


def with_aiohttp_read():
    return with_aiohttp(sock_read=SHORT)


def with_aiohttp_total():
    return with_aiohttp(total=SHORT)


def with_tenacity(clock):
    import tenacity

    @tenacity.retry(wait=tenacity.wait_fixed(20), stop=tenacity.stop_after_delay(50))
    def go():
        clock.append(1)
        with_requests_status()

    return go()


def with_tenacity_async(clock):
    import tenacity

    @tenacity.retry(wait=tenacity.wait_fixed(20), stop=tenacity.stop_after_delay(50))
    async def go():
        clock.append(1)
        with_requests_status()

    return asyncio.run(go())


def with_backoff(clock):
    import backoff

    @backoff.on_exception(backoff.constant, Exception, interval=20, jitter=None, max_time=50)
    def go():
        clock.append(1)
        with_requests_status()

    return go()


def with_requests_status():
    import requests

    requests.get(URL + "/status", timeout=SHORT).raise_for_status()
