"""The shop to test is at SHOP_URL."""

import os

import pytest
import requests


class Shop:
    """The shop as its customers see it, over one connection that is kept."""

    def __init__(self, url):
        self.url = url
        self.session = requests.Session()

    def is_up(self):
        return self.session.get(f"{self.url}/health", timeout=10).ok

    def checkout(self, customer):
        return self.session.post(f"{self.url}/checkout", json={"customer": customer}, timeout=10)


@pytest.fixture(scope="session")
def shop():
    return Shop(os.environ["SHOP_URL"])


@pytest.fixture
def is_refused():
    """Whether the shop says that it cannot take the order now, which it may."""

    def refused(reply):
        return reply.status_code == 502 and "nothing was ordered" in reply.json()["error"]

    return refused
