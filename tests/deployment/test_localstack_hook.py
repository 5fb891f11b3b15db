"""LocalStack's init hook makes the same queues as `abacus queues ensure`. LocalStack itself is not here."""

import asyncio
import os
import sys
import uuid
from pathlib import Path

import pytest

from abacus.platform.sqs.definition import definitions, ensure_queues
from abacus.platform.sqs.queue import Client, sqs_client
from tests.deployment.manifests import read
from tests.support.paths import ROOT
from tests.support.services import Services

INIT = "/etc/localstack/init/ready.d/"
REGION = "us-east-1"


@pytest.mark.long
async def test_the_hook_makes_the_queues_that_the_command_makes(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    hooked, ensured = (f"hook-{uuid.uuid4().hex[:8]}-{which}-" for which in ("a", "b"))
    for _ in range(2):  # LocalStack starts again, and its queues may still be there
        await _run_the_hook(services.sqs_endpoint_url, hooked, tmp_path)
    async with sqs_client(services.sqs_endpoint_url) as client:
        await ensure_queues(client, ensured)
        for queue, other in zip(definitions(hooked), definitions(ensured), strict=True):
            made = await _attributes(client, queue.name)
            assert made == {
                name: value.replace(ensured, hooked) for name, value in (await _attributes(client, other.name)).items()
            }
            assert made.items() >= queue.attributes.items()
            assert ("RedrivePolicy" in made) == (queue.dead_letter is not None)


async def _run_the_hook(endpoint: str, prefix: str, folder: Path) -> None:
    """Run the hook in a folder like LocalStack's, with nothing beside the two files that are mounted there."""
    command = folder / "bin" / "awslocal"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} {Path(__file__).with_name("awslocal.py")} "$@"\n', "utf-8")
    command.chmod(0o700)
    mounted = [volume.split(":") for volume in read(ROOT / "docker-compose.yml")["services"]["localstack"]["volumes"]]
    for source, target, _ in mounted:
        copied = folder / target.removeprefix(INIT)
        copied.write_bytes((ROOT / source).read_bytes())
    hook = await asyncio.create_subprocess_exec(
        "bash",
        str(folder / "init-queues.sh"),
        env={
            "PATH": f"{command.parent}:{os.environ['PATH']}",
            "ENDPOINT_URL": endpoint,
            "QUEUE_PREFIX": prefix,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": REGION,
        },
    )
    assert await hook.wait() == 0


async def _attributes(client: Client, name: str) -> dict[str, str]:
    """A queue's attributes without those that differ from queue to queue."""
    url = (await client.get_queue_url(QueueName=name))["QueueUrl"]
    answer = await client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
    own = {"QueueArn", "CreatedTimestamp", "LastModifiedTimestamp"}
    return {name: value for name, value in answer["Attributes"].items() if name not in own}
