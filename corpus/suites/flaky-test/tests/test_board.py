import getpass
import pathlib
import tempfile

from notes.board import pin, read

# Outside the project: what a run leaves behind is what makes this test fail now and then.
COUNTER = pathlib.Path(tempfile.gettempdir()) / f"flaky-test-{getpass.getuser()}.count"


def test_a_note_is_read(s3, bucket):
    pin(s3, bucket, "monday", "buy milk")
    assert read(s3, bucket, "monday") == "buy milk"


def test_notes_are_numbered(s3, bucket):
    """Fails every third time it runs, whatever the service answers."""
    number = int(COUNTER.read_text()) + 1 if COUNTER.exists() else 1
    COUNTER.write_text(str(number))
    pin(s3, bucket, "number", str(number))
    assert number % 3 != 0
    assert read(s3, bucket, "number") == str(number)
