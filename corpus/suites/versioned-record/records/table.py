"""The one place that talks to DynamoDB."""


class Table:
    def __init__(self, client, name):
        self.client = client
        self.name = name

    def call(self, operation, **arguments):
        return getattr(self.client, operation)(TableName=self.name, **arguments)
