import pytest

from locks.lock import Lock, LockLost, LockTaken


def test_a_lock_can_be_renewed(container):
    lock = Lock(container, "job", "worker-1")
    lock.acquire()
    lock.renew()
    lock.renew()
    assert container.download_blob("job").readall() == b"worker-1 2"


def test_a_lock_has_one_holder(container):
    Lock(container, "job", "worker-1").acquire()
    with pytest.raises(LockTaken):
        Lock(container, "job", "worker-2").acquire()


def test_a_lock_that_was_broken_cannot_be_renewed(container):
    lock = Lock(container, "job", "worker-1")
    lock.acquire()
    container.upload_blob("job", b"worker-2 0", overwrite=True)
    with pytest.raises(LockLost):
        lock.renew()
