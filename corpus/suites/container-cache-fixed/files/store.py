class FileStore:
    def __init__(self, cache):
        self.cache = cache

    def write(self, folder, name, data):
        self.cache.get(folder).upload_blob(name, data, overwrite=True)

    def list(self, folder):
        names = []
        for blob in self.cache.get(folder).list_blobs():
            names.append(blob.name)
        return names
