import os
import uuid

import pytest

from delivery.uploader import connect

# A local emulator unless somebody says otherwise: no test of ours should reach the real cloud by accident.
os.environ.setdefault("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")
os.environ.setdefault("AWS_ACCESS_KEY_ID", "testing")
os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "testing")
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")


@pytest.fixture(scope="session")
def s3():
    return connect()


@pytest.fixture
def bucket(s3):
    name = f"deliveries-{uuid.uuid4().hex[:12]}"
    s3.create_bucket(Bucket=name)
    return name
