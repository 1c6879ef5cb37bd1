import os
import uuid

import boto3
import pytest

# A local emulator unless somebody says otherwise: no test of ours should reach the real cloud by accident.
os.environ.setdefault("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")
os.environ.setdefault("AWS_ACCESS_KEY_ID", "testing")
os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "testing")
os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

from records.table import Table


@pytest.fixture(scope="session")
def dynamodb():
    return boto3.client("dynamodb")


@pytest.fixture
def table(dynamodb):
    name = f"records-{uuid.uuid4().hex[:12]}"
    dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "key", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "key", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    yield Table(dynamodb, name)
    dynamodb.delete_table(TableName=name)
