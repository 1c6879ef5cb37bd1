"""Uploads that may wait: a fixed pause between tries, as the night job has time."""

import time

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

TRIES = 3
PAUSE = 10  # seconds


def connect():
    # The tries are counted here, so the client makes none of its own.
    return boto3.client("s3", config=Config(retries={"total_max_attempts": 1}))


def upload(s3, bucket, key, data):
    for left in reversed(range(TRIES)):
        try:
            return s3.put_object(Bucket=bucket, Key=key, Body=data)["ETag"]
        except (BotoCoreError, ClientError):
            if left == 0:
                raise
            time.sleep(PAUSE)
