#!/usr/bin/env bash
# LocalStack runs this once it is ready: it makes the queues that queues.json defines, as `abacus queues ensure` does.
set -euo pipefail

definition="$(dirname "${BASH_SOURCE[0]}")/queues.json"
prefix="${QUEUE_PREFIX:-abacus-}"

python3 - "$definition" "$prefix" <<'PYTHON'
import json
import subprocess
import sys
from pathlib import Path

definition, prefix = sys.argv[1:]


def sqs(operation, *arguments):
    command = ["awslocal", "--output", "json", "sqs", operation, *arguments]
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout.strip() or "{}")


def ensure(name, attributes):
    """Create bare, then set: creating an existing queue with other attributes would be an error."""
    url = sqs("create-queue", "--queue-name", name)["QueueUrl"]
    sqs("set-queue-attributes", "--queue-url", url, "--attributes", json.dumps(attributes))
    known = sqs("get-queue-attributes", "--queue-url", url, "--attribute-names", "QueueArn")
    print(f"queue {name} is ready", flush=True)
    return known["Attributes"]["QueueArn"]


for queue in json.loads(Path(definition).read_text(encoding="utf-8"))["queues"]:
    dead = queue["dead_letter"]
    target = ensure(prefix + dead["name"], dead["attributes"])
    redrive = {"deadLetterTargetArn": target, "maxReceiveCount": dead["max_receive_count"]}
    ensure(prefix + queue["name"], queue["attributes"] | {"RedrivePolicy": json.dumps(redrive)})
PYTHON
