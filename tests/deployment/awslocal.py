"""LocalStack's `awslocal`, as far as its init hook needs it: the command line of AWS, against another endpoint."""

import json
import os
import sys

import boto3

sqs = boto3.client("sqs", endpoint_url=os.environ["ENDPOINT_URL"])
output, form, service, operation, *rest = sys.argv[1:]
given = dict(zip(rest[::2], rest[1::2], strict=True))
match output, form, service, operation:
    case "--output", "json", "sqs", "create-queue":
        answer = sqs.create_queue(QueueName=given["--queue-name"])
    case "--output", "json", "sqs", "set-queue-attributes":
        attributes = json.loads(given["--attributes"])
        sqs.set_queue_attributes(QueueUrl=given["--queue-url"], Attributes=attributes)
        answer = None
    case "--output", "json", "sqs", "get-queue-attributes":
        answer = sqs.get_queue_attributes(QueueUrl=given["--queue-url"], AttributeNames=[given["--attribute-names"]])
    case _:
        sys.exit(f"awslocal: {sys.argv[1:]} is nothing that the hook should ask")
if answer is not None:
    answer.pop("ResponseMetadata")
    sys.stdout.write(json.dumps(answer))
