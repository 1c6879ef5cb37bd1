"""A lock that several processes share: a blob that names its holder, changed only if nobody else has changed it."""

from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceModifiedError


class LockTaken(Exception):
    pass


class LockLost(Exception):
    pass


class Lock:
    def __init__(self, container, name, holder):
        self.blob = container.get_blob_client(name)
        self.holder = holder
        self.etag = None
        self.renewals = 0

    def acquire(self):
        try:
            self.etag = self.blob.upload_blob(self._text())["etag"]
        except ResourceExistsError:
            # Perhaps it is ours: an answer may have been lost on its way.
            download = self.blob.download_blob()
            if download.readall() != self._text():
                raise LockTaken(self.blob.blob_name) from None
            self.etag = download.properties.etag

    def renew(self):
        self.renewals += 1
        try:
            answer = self.blob.upload_blob(
                self._text(), overwrite=True, etag=self.etag, match_condition=MatchConditions.IfNotModified
            )
        except ResourceModifiedError:
            raise LockLost(f"{self.blob.blob_name} is held by somebody else now") from None
        self.etag = answer["etag"]

    def _text(self):
        return f"{self.holder} {self.renewals}".encode()
