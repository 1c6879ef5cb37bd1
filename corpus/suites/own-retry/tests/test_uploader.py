from delivery.uploader import upload


def test_an_upload_arrives(s3, bucket):
    upload(s3, bucket, "report", b"42")
    assert s3.get_object(Bucket=bucket, Key="report")["Body"].read() == b"42"
