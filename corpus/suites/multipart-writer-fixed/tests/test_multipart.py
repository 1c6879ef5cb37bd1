from writer.multipart import PART, MultipartWriter


def read(s3, bucket, key):
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read()


def test_a_small_file_is_one_part(s3, bucket):
    with MultipartWriter(s3, bucket, "small") as file:
        file.write(b"hello ")
        file.write(b"world")
    assert read(s3, bucket, "small") == b"hello world"


def test_a_large_file_is_several_parts(s3, bucket):
    with MultipartWriter(s3, bucket, "large") as file:
        file.write(b"x" * (PART + 1))
    assert len(read(s3, bucket, "large")) == PART + 1


def test_an_empty_file_is_an_empty_object(s3, bucket):
    with MultipartWriter(s3, bucket, "empty"):
        pass
    assert read(s3, bucket, "empty") == b""
