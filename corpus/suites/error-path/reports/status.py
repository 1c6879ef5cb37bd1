"""Says how a copy went, in words for the person who asked for it."""

from botocore.exceptions import BotoCoreError, ClientError


def fetch(s3, bucket, key):
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read()


def copy(s3, bucket, key, target):
    try:
        s3.put_object(Bucket=bucket, Key=target, Body=fetch(s3, bucket, key))
    except (BotoCoreError, ClientError) as error:
        return f"not copied: {error}"
    return "copied"
