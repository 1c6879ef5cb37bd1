"""Moves money between accounts, all or nothing. The token makes DynamoDB carry out a repeated request once."""

import uuid


class Accounts:
    def __init__(self, dynamodb, table):
        self.dynamodb = dynamodb
        self.table = table

    def open(self, name, balance):
        self.dynamodb.put_item(TableName=self.table, Item={"name": {"S": name}, "balance": {"N": str(balance)}})

    def balance(self, name):
        item = self.dynamodb.get_item(TableName=self.table, Key={"name": {"S": name}}, ConsistentRead=True)["Item"]
        return int(item["balance"]["N"])

    def transfer(self, number, source, target, amount):
        """Number is the transfer's own, so that none is booked twice."""
        receipt = {"name": {"S": f"transfer {number}"}, "amount": {"N": str(amount)}}
        self.dynamodb.transact_write_items(
            ClientRequestToken=str(uuid.uuid4()),
            TransactItems=[
                {"Put": {"TableName": self.table, "Item": receipt, "ConditionExpression": "attribute_not_exists(amount)"}},
                self._change(source, -amount),
                self._change(target, amount),
            ],
        )

    def _change(self, name, amount):
        return {
            "Update": {
                "TableName": self.table,
                "Key": {"name": {"S": name}},
                "UpdateExpression": "ADD balance :amount",
                "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
            }
        }
