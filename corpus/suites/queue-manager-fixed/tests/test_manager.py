from queues.manager import QueueManager


def test_what_was_put_is_got(sqs, queue_url):
    manager = QueueManager(sqs, queue_url)
    manager.put("hello")
    assert manager.get_one() == "hello"


def test_a_text_is_got_once(sqs, queue_url):
    manager = QueueManager(sqs, queue_url)
    manager.put("once")
    manager.get_one()
    left = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["ApproximateNumberOfMessagesNotVisible"])
    assert left["Attributes"]["ApproximateNumberOfMessagesNotVisible"] == "0"
