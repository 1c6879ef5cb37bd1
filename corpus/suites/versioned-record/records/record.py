"""A record that several processes may save. Its version says on which state a change was based."""

import logging

log = logging.getLogger(__name__)


class Record:
    def __init__(self, table, key):
        self.table = table
        self.key = key
        self.version = 0
        self.fields = {}

    def load(self):
        item = self.table.call("get_item", Key={"key": {"S": self.key}}, ConsistentRead=True).get("Item")
        if item:
            self.version = int(item["version"]["N"])
            self.fields = {name: value["S"] for name, value in item["fields"]["M"].items()}
        return self

    def save(self):
        """Saves the record. Where somebody else was faster the change stays here, and goes out with the next save."""
        fields = {name: {"S": value} for name, value in self.fields.items()}
        try:
            self.table.call(
                "put_item",
                Item={"key": {"S": self.key}, "version": {"N": str(self.version + 1)}, "fields": {"M": fields}},
                ConditionExpression="attribute_not_exists(version) OR version = :version",
                ExpressionAttributeValues={":version": {"N": str(self.version)}},
            )
        except self.table.client.exceptions.ConditionalCheckFailedException:
            log.info("%s has changed meanwhile: not saved now", self.key)
            return False
        self.version += 1
        return True
