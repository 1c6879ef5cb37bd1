import os
import uuid

import pytest
from azure.storage.blob import BlobServiceClient

# The account that every azurite has, on its default port; the key is in its documentation.
AZURITE = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;"
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;"
)


@pytest.fixture(scope="session")
def service():
    connection = os.environ.get("AZURE_STORAGE_CONNECTION_STRING", AZURITE)
    with BlobServiceClient.from_connection_string(connection) as client:
        yield client


def unique(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def container(service):
    client = service.create_container(unique("locks"))
    yield client
    client.delete_container()
