"""Asks every cloud service once and writes down what its SDK made of the answer, one line each.

python sdks.py URL, with the file to be written in SEEN. A line is the call, the outcome (an error code as the
application gets it, or "ok") and the number of attempts.
"""

import os
import sys

url = sys.argv[1]
ATTEMPTS = 3
lines = []


def see(call, outcome, attempts):
    lines.append(f"{call:23} {outcome}, {attempts} attempts")


def aws():
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError

    config = Config(
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
        s3={"addressing_style": "path"},
    )

    def client(service):
        return boto3.client(
            service,
            endpoint_url=f"{url}/{service}",
            region_name="eu-central-1",
            aws_access_key_id="AKID",
            aws_secret_access_key="nothing",
            config=config,
        )

    def ask(call, method, **arguments):
        try:
            answer, outcome = method(**arguments), "ok"
        except ClientError as error:
            answer, outcome = error.response, error.response["Error"]["Code"]
            request = str(answer["ResponseMetadata"].get("RequestId"))
            if request.startswith("murphy-"):
                outcome += " (ours)"
        except Exception as error:
            # Raised while the answer was read: no retry was thought of.
            see(call, type(error).__name__, 1)
            return
        see(call, outcome, answer["ResponseMetadata"]["RetryAttempts"] + 1)

    s3, dynamodb = client("s3"), client("dynamodb")
    ask("s3 GetObject", s3.get_object, Bucket="shop", Key="tea")
    ask("s3 HeadObject", s3.head_object, Bucket="shop", Key="tea")
    ask("sqs ListQueues", client("sqs").list_queues)
    ask("dynamodb ListTables", dynamodb.list_tables)
    ask("kms ListKeys", client("kms").list_keys)
    ask("sns ListTopics", client("sns").list_topics)
    ask("sts GetCallerIdentity", client("sts").get_caller_identity)


def azure():
    from azure.core.exceptions import AzureError
    from azure.data.tables import TableClient
    from azure.storage.blob import BlobClient, LinearRetry
    from azure.storage.queue import QueueClient

    account = "DefaultEndpointsProtocol=http;AccountName=shop;AccountKey=bm90aGluZw==;"
    ends = f"BlobEndpoint={url}/shop;QueueEndpoint={url}/shop;TableEndpoint={url}/shop;"
    storage = {"retry_policy": LinearRetry(backoff=0, retry_total=ATTEMPTS - 1, random_jitter_range=0)}
    table = {"retry_total": ATTEMPTS - 1, "retry_backoff_factor": 0}

    def client(kind, name, options):
        return kind.from_connection_string(account + ends, **name, **options)

    def ask(call, method):
        answers = []
        try:
            method(raw_response_hook=answers.append)
            outcome = "ok"
        except AzureError as error:
            response = getattr(error, "response", None)
            code = getattr(error, "error_code", None)
            # An enumeration of the SDK's, where the code is one that it knows.
            outcome = f"{type(error).__name__} {getattr(code, 'value', code)}"
            if response and str(response.headers.get("x-ms-request-id")).startswith("murphy-"):
                outcome += " (ours)"
        see(call, outcome, len(answers))

    blob = client(BlobClient, {"container_name": "shop", "blob_name": "tea"}, storage)
    queue = client(QueueClient, {"queue_name": "orders"}, storage)
    prices = client(TableClient, {"table_name": "prices"}, table)
    ask("azure blob properties", blob.get_blob_properties)
    ask("azure blob upload", lambda **hook: blob.upload_blob(b"tea", overwrite=True, **hook))
    ask("azure queue properties", queue.get_queue_properties)
    ask("azure table query", lambda **hook: list(prices.list_entities(**hook)))


def google():
    from google.api_core.exceptions import GoogleAPICallError
    from google.api_core.exceptions import RetryError
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import storage
    from google.cloud.storage.retry import DEFAULT_RETRY

    client = storage.Client(
        project="shop", credentials=AnonymousCredentials(), client_options={"api_endpoint": url}
    )
    answers = []
    client._http.hooks["response"].append(lambda answer, **_: answers.append(answer))
    retry = DEFAULT_RETRY.with_delay(initial=0.01, maximum=0.01, multiplier=1).with_timeout(0.3)
    try:
        client.get_bucket("shop", retry=retry)
        outcome = "ok"
    except RetryError as error:
        outcome = said(error.cause)
    except GoogleAPICallError as error:
        outcome = said(error)
    if answers and answers[-1].headers.get("x-guploader-uploadid", "").startswith("murphy-"):
        outcome += " (ours)"
    # It goes on until a time is over.
    see("gcs GetBucket", outcome, min(len(answers), ATTEMPTS))


def said(error):
    reasons = [detail.get("reason") for detail in error.errors]
    return f"{type(error).__name__} {' '.join(filter(None, reasons)) or None}"


for ask in (aws, azure, google):
    ask()
with open(os.environ["SEEN"], "w") as file:
    file.write("".join(f"{line}\n" for line in lines))
