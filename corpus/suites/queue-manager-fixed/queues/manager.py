"""A queue of texts, one at a time."""

import time

# Seconds for which nobody else gets a message that was delivered.
VISIBILITY = 1


class QueueEmpty(Exception):
    pass


class QueueManager:
    def __init__(self, client, url):
        self.client = client
        self.url = url

    def put(self, text):
        self.client.send_message(QueueUrl=self.url, MessageBody=text)

    def get_one(self):
        """The next text. It is taken off the queue."""
        message = self._receive() or self._receive_late()
        if message is None:
            raise QueueEmpty(self.url)
        self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return message["Body"]

    def _receive(self):
        answer = self.client.receive_message(QueueUrl=self.url, MaxNumberOfMessages=1, VisibilityTimeout=VISIBILITY)
        messages = answer.get("Messages")
        return messages[0] if messages else None

    def _receive_late(self):
        """A message whose delivery was lost comes back when its visibility time-out is over."""
        time.sleep(VISIBILITY + 0.2)
        return self._receive()
