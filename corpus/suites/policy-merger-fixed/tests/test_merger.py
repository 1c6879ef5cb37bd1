import json

import pytest

from policies.merger import PolicyMerger


@pytest.fixture
def policy(s3, bucket):
    """What the policy says now, of a bucket in which Alice may read already."""
    s3.put_object(Bucket=bucket, Key="policy.json", Body=json.dumps({"alice": {"allow": "read"}}).encode())
    return lambda: json.loads(s3.get_object(Bucket=bucket, Key="policy.json")["Body"].read())


def test_a_rule_is_added(s3, bucket, policy):
    PolicyMerger(s3, bucket, "policy.json").allow("bob", "write")
    assert policy()["bob"] == {"allow": "write"}


def test_a_rule_is_replaced(s3, bucket, policy):
    PolicyMerger(s3, bucket, "policy.json").deny("alice", "read")
    assert policy()["alice"] == {"deny": "read"}


def test_the_first_rule_makes_the_policy(s3, bucket):
    PolicyMerger(s3, bucket, "new.json").allow("carol", "read")
    assert json.loads(s3.get_object(Bucket=bucket, Key="new.json")["Body"].read()) == {"carol": {"allow": "read"}}
