"""The price board: prices are written one by one, and must be up quickly."""


class PriceBoard:
    def __init__(self, s3, bucket):
        self.s3 = s3
        self.bucket = bucket

    def show(self, item, price):
        self.s3.put_object(Bucket=self.bucket, Key=item, Body=str(price).encode())

    def price(self, item):
        return int(self.s3.get_object(Bucket=self.bucket, Key=item)["Body"].read())
