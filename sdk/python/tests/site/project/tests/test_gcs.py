import pytest
from shop import cloud


@pytest.fixture(scope="session", autouse=True)
def made(): cloud.make_bucket()


def test_store(): cloud.store("a")
def test_present(): assert cloud.present("a") in (True, False)
def test_short(): cloud.present("a", timeout=0.3, retry=None)
def test_short_store(): cloud.store("a", timeout=0.3, retry=None)
