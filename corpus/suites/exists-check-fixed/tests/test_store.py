import pytest

from objects.store import ObjectStore


@pytest.fixture
def store(s3, bucket):
    s3.put_object(Bucket=bucket, Key="greeting.txt", Body=b"hello")
    return ObjectStore(s3, bucket)


def test_an_object_exists(store):
    assert store.exists("greeting.txt")


def test_an_object_that_nobody_wrote_does_not_exist(store):
    assert not store.exists("farewell.txt")


def test_an_object_is_read(store):
    assert store.read("greeting.txt").decode() == "hello"


def test_a_missing_object_is_the_default(store):
    assert store.read("farewell.txt", default=b"bye") == b"bye"
