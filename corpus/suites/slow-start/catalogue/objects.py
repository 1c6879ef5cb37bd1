"""The layer between the catalogue and S3: one small function per request."""


def put(s3, bucket, key, text):
    s3.put_object(Bucket=bucket, Key=key, Body=text.encode())


def get(s3, bucket, key):
    return s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()


def size(s3, bucket, key):
    return s3.head_object(Bucket=bucket, Key=key)["ContentLength"]


def keys(s3, bucket, prefix):
    found = s3.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
    return [entry["Key"] for entry in found]


def remove(s3, bucket, key):
    s3.delete_object(Bucket=bucket, Key=key)


def tag(s3, bucket, key, name, value):
    s3.put_object_tagging(Bucket=bucket, Key=key, Tagging={"TagSet": [{"Key": name, "Value": value}]})


def tags(s3, bucket, key):
    found = s3.get_object_tagging(Bucket=bucket, Key=key)["TagSet"]
    return {entry["Key"]: entry["Value"] for entry in found}
