"""What an SDK makes of an error: the emulator's own, and an injected one. In form they must be the same.

python emulators.py aws | azure URL_OF_BLOB URL_OF_QUEUE    asks for what is not there; adds what came of it to the file in SEEN
python emulators.py compare FILE                            demands that both kinds of errors are there, and alike
"""

import json
import os
import sys

ATTEMPTS = 3
seen = []


def see(call, error, headers, form):
    """`form` is what must be alike: names and types, but not codes and texts."""
    headers = {name.lower(): value for name, value in headers.items()}
    # moto says application/json where DynamoDB and KMS say application/x-amz-json-1.0 and -1.1.
    kind = headers.get("content-type", "").split(";")[0].split("-json")[0].replace("x-amz", "json")
    injected = "murphy-fault" in headers
    seen.append({"call": call, "injected": injected, "error": error, "form": {**form, "content-type": kind}})


def shape(value):
    """The type, and whether there is anything in it."""
    return f"{type(value).__name__}{'' if value else ', empty'}"


def aws():
    import boto3
    from botocore.config import Config
    from botocore.exceptions import ClientError

    config = Config(retries={"mode": "standard", "total_max_attempts": ATTEMPTS})

    def ask(call, service, method, **arguments):
        client = boto3.client(
            service,
            region_name="eu-central-1",
            aws_access_key_id="AKID",
            aws_secret_access_key="nothing",
            config=config,
        )
        try:
            getattr(client, method)(**arguments)
            sys.exit(f"{call}: no error")
        except ClientError as error:
            response = error.response
            metadata = response["ResponseMetadata"]
            form = {name: shape(response["Error"].get(name)) for name in ("Code", "Message")}
            form["RequestId"] = shape(metadata.get("RequestId"))
            see(call, response["Error"]["Code"], metadata["HTTPHeaders"], form)

    queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/nothing"
    ask("s3 GetObject", "s3", "get_object", Bucket="nothing", Key="tea")
    ask("sqs SendMessage", "sqs", "send_message", QueueUrl=queue, MessageBody="tea")
    ask("dynamodb GetItem", "dynamodb", "get_item", TableName="nothing", Key={"id": {"S": "tea"}})
    ask("kms DescribeKey", "kms", "describe_key", KeyId="nothing")
    ask("sns GetTopicAttributes", "sns", "get_topic_attributes", TopicArn="arn:aws:sns:eu-central-1:123456789012:nothing")
    ask("iam GetUser", "iam", "get_user", UserName="nobody")


def azure(blobs, queues):
    from azure.core.exceptions import HttpResponseError
    from azure.storage.blob import BlobClient, LinearRetry
    from azure.storage.queue import QueueClient

    # Everybody's, for emulators.
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    name = "devstoreaccount1"
    ends = f"DefaultEndpointsProtocol=http;AccountName={name};AccountKey={key};"
    ends += f"BlobEndpoint={blobs}/{name};QueueEndpoint={queues}/{name};"
    retry = LinearRetry(backoff=0, retry_total=ATTEMPTS - 1, random_jitter_range=0)

    def ask(call, method):
        try:
            method()
            sys.exit(f"{call}: no error")
        except HttpResponseError as error:
            headers = error.response.headers
            form = {
                "error_code": shape(getattr(error.error_code, "value", error.error_code)),
                "reason": shape(error.reason),
                "x-ms-error-code": shape(headers.get("x-ms-error-code")),
                "x-ms-request-id": shape(headers.get("x-ms-request-id")),
                "details": sorted(getattr(error, "additional_info", {})),
            }
            # The answer to HEAD has no body, and Azurite's no type. What the emulator adds, and we do not, is the time.
            if error.response.request.method != "HEAD":
                form["message"] = [line.split(":")[0] for line in error.message.splitlines()[1:] if "Time:" not in line]
            else:
                headers = {**headers, "content-type": ""}
            see(call, str(getattr(error.error_code, "value", error.error_code)), headers, form)

    blob = BlobClient.from_connection_string(ends, "nothing", "tea", retry_policy=retry)
    queue = QueueClient.from_connection_string(ends, "nothing", retry_policy=retry)
    ask("blob download", blob.download_blob)
    ask("blob properties", blob.get_blob_properties)
    ask("blob upload", lambda: blob.upload_blob(b"tea", overwrite=True))
    ask("queue properties", queue.get_queue_properties)
    ask("queue send", lambda: queue.send_message("tea"))


def compare(file):
    wrong = 0
    calls = {}
    with open(file) as lines:
        for fact in map(json.loads, lines):
            calls.setdefault(fact["call"], {})[fact["injected"]] = fact
    for call, kinds in calls.items():
        own, ours = kinds.get(False, {}), kinds.get(True, {})
        print(f"{call:23} {own.get('error')} as {ours.get('error')}")
        if own.get("form") != ours.get("form"):
            wrong = 1
            print(f"WRONG  {call}\n  the emulator's  {own}\n  injected        {ours}")
    return wrong or not calls


name, *arguments = sys.argv[1:]
if name == "compare":
    sys.exit(compare(*arguments))
{"aws": aws, "azure": azure}[name](*arguments)
with open(os.environ["SEEN"], "a") as file:
    file.write("".join(f"{json.dumps(fact)}\n" for fact in seen))
