"""Objects by name."""

from botocore.exceptions import ClientError


class ObjectStore:
    def __init__(self, s3, bucket):
        self.s3 = s3
        self.bucket = bucket

    def exists(self, name):
        try:
            self.s3.head_object(Bucket=self.bucket, Key=name)
        except ClientError:
            return False
        return True

    def read(self, name, default=None):
        """What the object holds, or the default if there is no such object."""
        if not self.exists(name):
            return default
        return self.s3.get_object(Bucket=self.bucket, Key=name)["Body"].read()
