import pytest

from files.cache import ContainerCache
from files.store import FileStore


@pytest.fixture
def store(service):
    return FileStore(ContainerCache(service))


def test_a_new_folder_is_empty(store, folder):
    assert store.list(folder) == []


def test_files_are_listed_by_name(store, folder):
    store.write(folder, "b.txt", b"2")
    store.write(folder, "a.txt", b"1")
    assert store.list(folder) == ["a.txt", "b.txt"]


def test_an_existing_folder_is_used(store, folder, service):
    service.create_container(folder).upload_blob("old.txt", b"old")
    assert store.list(folder) == ["old.txt"]
