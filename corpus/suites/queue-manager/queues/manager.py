"""A queue of texts, one at a time."""


class QueueManager:
    def __init__(self, client, url):
        self.client = client
        self.url = url

    def put(self, text):
        self.client.send_message(QueueUrl=self.url, MessageBody=text)

    def get_one(self):
        """The next text. It is taken off the queue."""
        message = self._receive()
        self.client.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return message["Body"]

    def _receive(self):
        answer = self.client.receive_message(QueueUrl=self.url, MaxNumberOfMessages=1, WaitTimeSeconds=0)
        messages = answer.get("Messages")
        return messages[0] if messages else None
