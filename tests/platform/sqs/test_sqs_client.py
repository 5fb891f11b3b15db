"""The client's settings: one line says what AWS' chain lacks. And the counts that a queue gives of itself."""

import asyncio
import uuid
from pathlib import Path

import pytest
from aiobotocore.utils import AioInstanceMetadataFetcher
from prometheus_client import REGISTRY

from abacus.core.errors import Refused
from abacus.platform.sqs import queue as sqs
from abacus.platform.sqs.definition import AWARD, ensure_queues
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.support.services import Services


@pytest.fixture(autouse=True)
def _no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


async def test_aws_without_a_region_is_refused() -> None:
    with pytest.raises(Refused, match="AWS_DEFAULT_REGION"):
        async with sqs_client(None):
            pass


async def test_a_host_that_no_url_may_name_is_refused() -> None:
    with pytest.raises(Refused, match=r"local_stack.*ABACUS_SQS_ENDPOINT_URL"):
        async with sqs_client("http://local_stack:4566"):
            pass


async def test_an_endpoint_of_ones_own_needs_neither_region_nor_credentials() -> None:
    async with sqs_client("http://127.0.0.1:1") as client:
        assert client.meta.endpoint_url == "http://127.0.0.1:1"


@pytest.mark.parametrize(("endpoint", "times"), [("http://127.0.0.1:1", 0), ("https://127.0.0.1:1", 1)])
async def test_the_machines_role_is_asked_for_where_it_may_be_aws(
    endpoint: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetchers: list[object] = []

    async def nobody_answers(fetcher: object) -> dict[str, str]:
        fetchers.append(fetcher)
        return {}

    monkeypatch.setattr(AioInstanceMetadataFetcher, "retrieve_iam_role_credentials", nobody_answers)
    monkeypatch.setattr(sqs, "_session", sqs._session.__wrapped__)  # noqa: SLF001  # not the one that others have used
    async with sqs_client(endpoint) as client:
        assert client.meta.endpoint_url == endpoint
    assert len(fetchers) == times


async def test_a_queue_says_what_it_holds_without_giving_it_out(services: Services) -> None:
    prefix = f"holds-{uuid.uuid4().hex[:8]}-"
    async with sqs_client(services.sqs_endpoint_url) as client:
        await ensure_queues(client, prefix)
        queue = await SqsQueue.find(client, f"{prefix}{AWARD}", wait_s=1)
        assert (await queue.holds(), await queue.waiting()) == (0, 0)
        await queue.send(["taken"])
        (taken,) = await queue.receive()
        await queue.send(["delayed"], delay_s=600)
        await queue.send(["waiting"])
        assert (await queue.holds(), await queue.waiting()) == (3, 1)
        await queue.delete([taken])
        assert (await queue.holds(), await queue.waiting()) == (2, 1)
        (waiting,) = await queue.receive()
        assert (waiting.body, waiting.receives) == ("waiting", 1)  # counting it was no receive


@pytest.mark.long
async def test_the_oldest_message_grows_older_while_nobody_receives(services: Services) -> None:
    prefix = f"age-{uuid.uuid4().hex[:8]}-"

    def age() -> float:
        told = REGISTRY.get_sample_value("abacus_queue_oldest_seconds", {"queue": f"{prefix}{AWARD}"})
        assert told is not None
        return told

    async with sqs_client(services.sqs_endpoint_url) as client:
        await ensure_queues(client, prefix)
        queue = await SqsQueue.find(client, f"{prefix}{AWARD}", wait_s=1)
        await queue.send(["in hand"])
        taken = await queue.receive()
        await asyncio.sleep(0.3)
        assert await queue.receive() == []  # by another hand of the same process
        assert age() > 1.25, "one hand has it, whatever another receives"
        await queue.keep(taken, 30)
        await queue.waiting()
        assert age() > 1.25
        await queue.delete(taken)
        await queue.waiting()
        assert age() == 0, "nothing is in hand, and nothing waits"
        await asyncio.sleep(0.3)
        await queue.send(["waiting"])
        await queue.waiting()
        assert age() > 0.25, "it has waited no longer than since the last receive"
        again = await queue.receive()
        await queue.keep(again, 0)
        await queue.receive()
        assert age() < 5
