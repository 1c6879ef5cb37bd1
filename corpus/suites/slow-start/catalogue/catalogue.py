"""Articles and their prices, a kind to a shelf."""

from catalogue import objects
from catalogue.classifier import shelf


class Catalogue:
    def __init__(self, s3, bucket):
        self.s3 = s3
        self.bucket = bucket

    def add(self, kind, name, price):
        objects.put(self.s3, self.bucket, self._key(kind, name), str(price))

    def price(self, kind, name):
        return int(objects.get(self.s3, self.bucket, self._key(kind, name)))

    def change_price(self, kind, name, price):
        old = int(objects.get(self.s3, self.bucket, self._key(kind, name)))
        objects.put(self.s3, self.bucket, self._key(kind, name), str(price))
        return old

    def digits(self, kind, name):
        return objects.size(self.s3, self.bucket, self._key(kind, name))

    def names(self, kind):
        prefix = f"{shelf(kind)}/{kind}/"
        return [key.removeprefix(prefix) for key in objects.keys(self.s3, self.bucket, prefix)]

    def reserve(self, kind, name, customer):
        objects.tag(self.s3, self.bucket, self._key(kind, name), "reserved", customer)

    def reserved_for(self, kind, name):
        return objects.tags(self.s3, self.bucket, self._key(kind, name)).get("reserved")

    def remove(self, kind, name):
        objects.remove(self.s3, self.bucket, self._key(kind, name))

    def _key(self, kind, name):
        return f"{shelf(kind)}/{kind}/{name}"
