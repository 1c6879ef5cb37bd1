"""Azure and Google, through one wrapper each."""
import asyncio
import functools
import os

KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
CONNECTION = "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=%s;" % KEY


def connection():
    return CONNECTION + "".join("%sEndpoint=%s/devstoreaccount1;" % (name, os.environ[name.upper()]) for name in ("Blob", "Queue", "Table"))


@functools.lru_cache(None)
def blobs(**options):
    from azure.storage.blob import BlobServiceClient

    return BlobServiceClient.from_connection_string(connection(), **options).get_container_client("files")


@functools.lru_cache(None)
def queue():
    from azure.storage.queue import QueueClient

    return QueueClient.from_connection_string(connection(), "jobs")


@functools.lru_cache(None)
def table():
    from azure.data.tables import TableClient

    return TableClient.from_connection_string(connection(), "records")


def make():
    blobs().create_container()
    queue().create_queue()
    table().create_table()


def write(name, **options):
    return blobs(**options).upload_blob(name, b"text", overwrite=True)


def save(name):
    return write(name)


def send(text):
    queue().send_message(text)


def record(key):
    table().upsert_entity({"PartitionKey": "p", "RowKey": key})


async def write_async(name, **options):
    from azure.storage.blob.aio import BlobServiceClient

    async with BlobServiceClient.from_connection_string(connection(), **options) as client:
        return await client.get_container_client("files").upload_blob(name, b"text", overwrite=True)


async def save_async(name):
    await write_async(name)


@functools.lru_cache(None)
def bucket():
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage

    client = storage.Client(credentials=AnonymousCredentials(), project="shop", client_options={"api_endpoint": os.environ["GCS"]})
    return client.bucket("files")


def make_bucket():
    bucket().client.create_bucket("files")


def store(name, **options):
    bucket().blob(name).upload_from_string(b"text", **options)


def present(name, **options):
    return bucket().blob(name).exists(**options)
