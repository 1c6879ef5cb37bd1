"""A file-like object that writes to S3 in parts, so that nobody has to know beforehand how much comes."""

PART = 5 * 1024 * 1024  # S3 takes no smaller one, except for the last


class MultipartWriter:
    def __init__(self, s3, bucket, key):
        self.s3 = s3
        self.target = {"Bucket": bucket, "Key": key}
        self.buffer = bytearray()
        self.parts = []
        self.upload = self.s3.create_multipart_upload(**self.target)["UploadId"]

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        if failed:
            self._abort()
        else:
            self.close()

    def write(self, data):
        self.buffer += data
        while len(self.buffer) >= PART:
            self._send(self.buffer[:PART])
            del self.buffer[:PART]

    def close(self):
        if self.buffer:
            self._send(self.buffer)
        if self.parts:
            self._complete()
        else:
            # An upload has at least one part: what is empty is written without one.
            self._abort()
            self.s3.put_object(**self.target, Body=b"")

    def _send(self, data):
        number = len(self.parts) + 1
        answer = self.s3.upload_part(**self.target, UploadId=self.upload, PartNumber=number, Body=bytes(data))
        self.parts.append({"PartNumber": number, "ETag": answer["ETag"]})

    def _complete(self):
        try:
            self.s3.complete_multipart_upload(**self.target, UploadId=self.upload, MultipartUpload={"Parts": self.parts})
        except self.s3.exceptions.NoSuchUpload:
            # Completed already, if the answer to an earlier attempt was lost: then the object is there.
            self.s3.head_object(**self.target)

    def _abort(self):
        self.s3.abort_multipart_upload(**self.target, UploadId=self.upload)
