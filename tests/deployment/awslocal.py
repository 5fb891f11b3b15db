"""LocalStack's `awslocal`, as far as its init hook needs it: the command line of AWS, against another endpoint.

The hook runs it for each call, so it speaks SQS' protocol by itself: boto3 would take a second to start, each time.
"""

import json
import os
import sys
import urllib.request

OPERATIONS = {
    "create-queue": "CreateQueue",
    "set-queue-attributes": "SetQueueAttributes",
    "get-queue-attributes": "GetQueueAttributes",
}

output, form, service, operation, *rest = sys.argv[1:]
if (output, form, service) != ("--output", "json", "sqs") or operation not in OPERATIONS:
    sys.exit(f"awslocal: {sys.argv[1:]} is nothing that the hook should ask")
given: dict[str, object] = {}
for name, value in zip(rest[::2], rest[1::2], strict=True):
    match name:
        case "--queue-name":
            given["QueueName"] = value
        case "--queue-url":
            given["QueueUrl"] = value
        case "--attributes":
            given["Attributes"] = json.loads(value)
        case "--attribute-names":
            given["AttributeNames"] = [value]
        case _:
            sys.exit(f"awslocal: {name} is nothing that the hook should give")
request = urllib.request.Request(  # noqa: S310  # the test's own endpoint
    os.environ["ENDPOINT_URL"],
    json.dumps(given).encode(),
    {"X-Amz-Target": f"AmazonSQS.{OPERATIONS[operation]}", "Content-Type": "application/x-amz-json-1.0"},
)
with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  # the same
    sys.stdout.write(answer.read().decode())
