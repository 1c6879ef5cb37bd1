"""Short notes in a bucket."""


def pin(s3, bucket, name, text):
    s3.put_object(Bucket=bucket, Key=name, Body=text.encode())


def read(s3, bucket, name):
    return s3.get_object(Bucket=bucket, Key=name)["Body"].read().decode()
