"""`abacus reconcile` as an operator runs it: all messages posted and published, and one in twenty sent twice."""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from abacus.cli.examples.stream import BOB
from abacus.cli.house.stack import make_ready
from abacus.core.sources import STREAM
from abacus.intake.earning.decide.transaction import Completed, read_transaction
from abacus.ledger.decide.chain import CURRENT
from abacus.ledger.types.account import NO_HASH
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.port import Claim
from abacus.ledger.types.transfer import Transfer
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from benchmarks.pipeline import environment
from benchmarks.report import Figure, rate

MESSAGES: Final = 100_000
WANTED: Final = 5_000
MOST_MEMORY: Final = 200 * 1024 * 1024

_PARTITIONS: Final = 64  # the embedded broker keeps 5 MiB of each
_CHUNK: Final = 2_000
_TWICE: Final = 20
_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_EXPLANATION: Final = (
    b'{"amount":"15.00","currency":"SGD","card":"SG@1","factors":[["vertical","food","2"],["eppf","SG","1"],'
    b'["cashless","wallet","2"],["tier","member","1"]],"product":"60.00","rounding":"floor","points":60}'
)


class _Ran(NamedTuple):
    seconds: float
    peak: int
    account: dict[str, Any]


async def measure(directory: Path) -> list[Figure]:
    names = Settings().transactions_topic, Settings().points_topic
    async with EmbeddedStack(directory, kafka_topics=dict.fromkeys(names, _PARTITIONS)) as embedded:
        settings = Settings(
            database_url=embedded.database_url,
            sqs_endpoint_url=embedded.sqs_endpoint_url,
            kafka_bootstrap=embedded.kafka_bootstrap,
        )
        await make_ready(settings)
        pool = await open_pool(settings.required("database_url"), size=1)
        await _fill(settings, pool, 0, MESSAGES // 10)
        small = await _reconcile(settings)
        await _fill(settings, pool, MESSAGES // 10, MESSAGES)
        await pool.execute("analyze claim, transfer", timeout=600)
        large = await _reconcile(settings)
        await pool.close()
    more = large.account["messages"] - small.account["messages"]
    per_second = more / (large.seconds - small.seconds)
    return [
        Figure(
            f"reconcile, {more:,} messages more than in a small window, and {MESSAGES * 9 // 10:,} events",
            rate(per_second, "messages"),
            f"{large.seconds / small.seconds:.1f} times as long for ten times the messages",
            f">= {WANTED:,}/s",
            per_second >= WANTED and large.account["comes_out"],
        ),
        Figure(
            "… its memory, peak",
            f"{large.peak / 1024 / 1024:.0f} MiB",
            f"{large.peak / small.peak:.2f} of that with a tenth of the messages",
            "< 200 MiB",
            large.peak < MOST_MEMORY,
        ),
    ]


async def _reconcile(settings: Settings) -> _Ran:
    began, peak = time.perf_counter(), 0
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "abacus", "reconcile", "--from", _START.isoformat(), "--json"),
        env=environment(settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    answer = asyncio.ensure_future(process.communicate())
    while not answer.done():
        try:
            peak = max(peak, psutil.Process(process.pid).memory_info().rss)
        except psutil.NoSuchProcess:
            break
        await asyncio.wait((answer,), timeout=0.05)
    out, _ = await answer
    return _Ran(time.perf_counter() - began, peak, json.loads(out))


async def _fill(settings: Settings, pool: Pool, first: int, last: int) -> None:
    """Write the rows and events that the calculator, the awarder and the relay leave behind, without their work."""
    publisher = StreamPublisher(settings.required("kafka_bootstrap"))
    try:
        for start in range(first, last, _CHUNK):
            messages = [_message(number) for number in range(start, min(start + _CHUNK, last))]
            await publisher.publish(settings.transactions_topic, [*messages, *messages[::_TWICE]])
            transactions = [read_transaction(message.value) for message in messages]
            posted = [_posted(each) for each in transactions if isinstance(each, Completed)]
            async with pool.acquire() as connection, connection.transaction():
                for table, records in (("claim", [claim for claim, _ in posted]), ("transfer", [t for _, t in posted])):
                    await connection.copy_records_to_table(table, records=records, columns=records[0]._fields)
            events = [StreamMessage(transfer.member_id.encode(), encode_event(transfer)) for _, transfer in posted]
            await publisher.publish(settings.points_topic, events)
    finally:
        await publisher.close()


def _message(number: int) -> StreamMessage:
    member = f"m{number:08}"
    transaction = {**BOB, "transaction_id": f"T-{number}", "member_id": member}
    return StreamMessage(member.encode(), json.dumps(transaction).encode())


def _posted(transaction: Completed) -> tuple[Claim, Transfer]:
    account, now = (transaction.member_id, "GRP", 1), datetime.now(UTC)
    transfer = Transfer(
        *account,
        TransferKind.EARN,
        60,
        60,
        transaction.key,
        transaction.country,
        transaction.occurred_at,
        now,
        None,
        _EXPLANATION,
        None,
        None,
        STREAM,
        lifetime=False,
        vests_on=None,
        vests_at=None,
        format=CURRENT,
        hash=NO_HASH,
    )
    return Claim(transaction.key, *account, transaction.fingerprint), transfer
