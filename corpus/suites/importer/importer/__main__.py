"""Copies the rows of a CSV file in S3 into a DynamoDB table: python -m importer BUCKET KEY TABLE"""

import csv
import io
import sys

import boto3
from botocore.config import Config

# The job is started again by the scheduler, so nothing is tried twice in here.
ONCE = Config(retries={"total_max_attempts": 1})


def read_rows(bucket, key):
    body = boto3.client("s3", config=ONCE).get_object(Bucket=bucket, Key=key)["Body"].read()
    return list(csv.DictReader(io.StringIO(body.decode())))


def write_rows(table, rows):
    dynamodb = boto3.client("dynamodb", config=ONCE)
    for row in rows:
        dynamodb.put_item(TableName=table, Item={name: {"S": value} for name, value in row.items()})


def main(bucket, key, table):
    rows = read_rows(bucket, key)
    write_rows(table, rows)
    print(f"{len(rows)} rows imported")


if __name__ == "__main__":
    main(*sys.argv[1:])
