"""Rules about who may do what, one JSON document in S3 that is changed rule by rule."""

import json

from botocore.exceptions import ClientError


class PolicyMerger:
    def __init__(self, s3, bucket, key):
        self.s3 = s3
        self.bucket = bucket
        self.key = key

    def allow(self, who, what):
        self._merge({who: {"allow": what}})

    def deny(self, who, what):
        self._merge({who: {"deny": what}})

    def _merge(self, rules):
        merged = self._read()
        merged.update(rules)
        text = json.dumps(merged, sort_keys=True)
        self.s3.put_object(Bucket=self.bucket, Key=self.key, Body=text.encode())

    def _read(self):
        try:
            return json.loads(self.s3.get_object(Bucket=self.bucket, Key=self.key)["Body"].read())
        except ClientError:
            return {}  # no policy yet
