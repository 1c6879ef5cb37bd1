"""Documents in a table. What goes wrong below is told in this module's own exceptions, which keep their cause."""

from botocore.exceptions import BotoCoreError, ClientError


class StorageError(Exception):
    pass


class DocumentNotSaved(StorageError):
    pass


class DocumentNotRead(StorageError):
    pass


def save(dynamodb, table, key, text):
    try:
        dynamodb.put_item(TableName=table, Item={"key": {"S": key}, "text": {"S": text}})
    except (BotoCoreError, ClientError) as error:
        raise DocumentNotSaved(f"could not save {key}") from error


def read(dynamodb, table, key):
    try:
        item = dynamodb.get_item(TableName=table, Key={"key": {"S": key}}, ConsistentRead=True)["Item"]
    except (BotoCoreError, ClientError):
        raise DocumentNotRead(f"could not read {key}")  # the cause is the exception's context
    return item["text"]["S"]
