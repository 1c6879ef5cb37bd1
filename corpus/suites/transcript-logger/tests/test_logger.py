from transcripts.logger import TranscriptLogger


def test_a_conversation_is_logged_in_order(container):
    logger = TranscriptLogger(container, "tea")
    logger.say("Alice", "Tea?")
    logger.say("Hatter", "No room!")
    logger.say("Alice", "There is plenty of room.")
    logger.flush()
    assert len(logger.entries()) == 3
    assert logger.entries()[0] == "Alice: Tea?"


def test_entries_after_a_flush_are_appended(container):
    logger = TranscriptLogger(container, "croquet")
    logger.say("Queen", "Can you play croquet?")
    logger.flush()
    logger.say("Alice", "Yes!")
    logger.flush()
    assert logger.entries() == ["Queen: Can you play croquet?", "Alice: Yes!"]


def test_nothing_said_nothing_logged(container):
    logger = TranscriptLogger(container, "silence")
    logger.flush()
    assert logger.entries() == []
