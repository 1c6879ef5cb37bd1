import pytest
from botocore.exceptions import ClientError

from reports.status import copy, fetch


def test_a_missing_object_is_an_error(s3, bucket):
    with pytest.raises(ClientError) as caught:
        fetch(s3, bucket, "nothing")
    assert caught.value.response["Error"]["Code"] == "NoSuchKey"


def test_a_copy_says_what_went_wrong(s3, bucket):
    assert "NoSuchKey" in copy(s3, bucket, "nothing", "copy")


def test_a_copy_says_that_it_is_done(s3, bucket):
    s3.put_object(Bucket=bucket, Key="original", Body=b"text")
    assert copy(s3, bucket, "original", "copy") == "copied"
