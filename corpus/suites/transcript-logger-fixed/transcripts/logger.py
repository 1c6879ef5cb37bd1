"""Keeps what was said in a conversation: one blob per entry, numbered in the order of arrival."""

from collections import deque

from azure.core.exceptions import ResourceExistsError


class TranscriptLogger:
    def __init__(self, container, conversation):
        self.container = container
        self.conversation = conversation
        self.pending = deque()
        self.number = 0

    def say(self, who, text):
        self.pending.append(f"{who}: {text}")

    def flush(self):
        """Writes the pending entries."""
        while self.pending:
            self._write(self.pending[0])
            self.pending.popleft()

    def _write(self, entry):
        """Writes one entry. One that exists with the same text is this one: the answer to an earlier attempt was lost."""
        name = f"{self.conversation}/{self.number:06}"
        try:
            self.container.upload_blob(name, entry.encode())
        except ResourceExistsError:
            if self.container.download_blob(name).readall() != entry.encode():
                raise
        self.number += 1

    def entries(self):
        texts = []
        for blob in self.container.list_blobs(name_starts_with=self.conversation + "/"):
            texts.append(self.container.download_blob(blob.name).readall().decode())
        return texts
