import pathlib
import subprocess
import sys

import boto3
import pytest

from importer.__main__ import main

PROJECT = pathlib.Path(__file__).parent.parent


@pytest.fixture
def people(bucket):
    boto3.client("s3").put_object(Bucket=bucket, Key="people.csv", Body=b"name,city\nalice,London\nbob,Paris\n")
    return "people.csv"


def count(table):
    return boto3.client("dynamodb").scan(TableName=table)["Count"]


def test_rows_are_imported(bucket, people, table):
    main(bucket, people, table)
    assert count(table) == 2


def test_the_command_imports_rows(bucket, people, table):
    command = [sys.executable, "-m", "importer", bucket, people, table]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "2 rows imported\n"
    assert count(table) == 2
