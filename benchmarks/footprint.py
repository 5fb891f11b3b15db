"""The size of a transaction on its way: bytes in Kafka, in SQS, in the ledger's tables and in Postgres' log; and the
CPU of posting and of publishing it, on both sides of the connection.

The figures for disks, networks and servers in docs/operate/sizing.md are these times a rate.
"""

import random
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Self

import psutil

from abacus.cli.examples import example_cards
from abacus.cli.examples.stream import stream
from abacus.core.clock import SystemClock
from abacus.intake.earning.decide.calculate import Calculator
from abacus.intake.earning.decide.transaction import Transaction, read_transaction
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import TRANSFER_COLUMNS
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.sqs.packer import pack_compressed
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from benchmarks.report import Figure

ACCOUNTS: Final = 200_000
ROUNDS: Final = 3
AWARDS: Final = 30_000  # a round
BATCH: Final = 500

_MEMBERS: Final = """
insert into account (member_id, program, country, expires_on)
select 'm' || lpad(n::text, 8, '0'), 'GRP', 'SG', date '2026-11-30' from generate_series(0, $1::int - 1) as n
"""
_SIZES: Final = """
select pg_table_size('transfer_1'), pg_indexes_size('transfer_1'), pg_table_size('claim_1'), pg_indexes_size('claim_1')
"""


async def measure(directory: Path) -> list[Figure]:
    bodies, awards = _example()
    packed = list(pack_compressed("awards", map(encode_award, awards)))
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        owner = await open_pool(url, size=1, role=None)
        pool = await open_pool(url, size=1, settings=LOOKUPS_BY_KEY)
        try:
            stored = await _stored(owner, pool, awards)
        finally:
            await pool.close()
            await owner.close()
    return [
        Figure("bytes of a transaction on its topic", _mean(len(body) for body in bodies)),
        Figure(
            "… of its award in an envelope",
            f"{sum(len(message.body) for message in packed) / len(awards):,.0f}",
            f"{len(awards) / len(packed):.0f} awards a message",
        ),
        *stored,
    ]


def _example() -> tuple[list[bytes], list[Award]]:
    """Transactions and their awards, each of a random member."""
    calculator = Calculator(CardBook(PublishedCard(card, 1) for card in example_cards()))
    chance, wanted = random.Random(1), ROUNDS * AWARDS
    bodies: list[bytes] = []
    awards: dict[str, Award] = {}
    for sent in stream(2 * wanted):
        if sent.award is None or sent.award in awards or len(awards) == wanted:
            continue
        award = _award(calculator, read_transaction(sent.value))
        if award is not None:
            bodies.append(sent.value)
            awards[award.key] = award._replace(member_id=f"m{chance.randrange(ACCOUNTS):08}", program="GRP")
    return bodies, list(awards.values())


def _award(calculator: Calculator, transaction: Transaction) -> Award | None:
    return calculator.award(transaction, calculator.card_for(transaction), "member")


async def _stored(owner: Pool, pool: Pool, awards: Sequence[Award]) -> list[Figure]:
    """Measure the bytes of an award. The first round fills what is empty. The second starts with a checkpoint, so that
    whole pages are logged; by the third they have been.
    """
    await owner.execute(_MEMBERS, ACCOUNTS, timeout=600)
    await owner.execute("vacuum analyze account", timeout=600)
    ledger, logged = PostgresLedger(pool, SystemClock()), list[int]()
    before = await owner.fetchrow(_SIZES)
    async with _CpuCost(pool) as posting:
        for round_ in range(ROUNDS):
            if round_ == 1:
                await owner.execute("checkpoint", timeout=600)
            log = await owner.fetchval("select pg_current_wal_lsn()")
            for start in range(round_ * AWARDS, (round_ + 1) * AWARDS, BATCH):
                await ledger.post(awards[start : start + BATCH])
            logged.append(await owner.fetchval("select (pg_current_wal_lsn() - $1::pg_lsn)::bigint", log))
    sizes = [
        (after - earlier) / len(awards) for after, earlier in zip(await owner.fetchrow(_SIZES), before, strict=True)
    ]
    relay, published = transfer_relay(pool, _Nowhere(), "footprint", SystemClock(), WorkerHealth("relay")), 0
    async with _CpuCost(pool) as publishing, pool.acquire() as connection:
        while count := await relay.step(connection):
            published += count
    events = await owner.fetch(f"select {TRANSFER_COLUMNS} from transfer limit 1000")
    return [
        Figure("… of its event on the points topic", _mean(len(encode_event(Transfer(*row))) for row in events)),
        Figure("… of its transfer, and of its entries in the indexes", f"{sizes[0]:,.0f} and {sizes[1]:,.0f}"),
        Figure("… of its claim, and of its entry in the index", f"{sizes[2]:,.0f} and {sizes[3]:,.0f}"),
        Figure(
            "… of Postgres' log, right after a checkpoint",
            f"{logged[1] / AWARDS:,.0f}",
            f"{logged[1] / logged[2]:.1f} times that of the next {AWARDS:,}",
        ),
        Figure("… of Postgres' log, once the pages have been logged whole", f"{logged[2] / AWARDS:,.0f}"),
        *posting.figures("posting it", len(awards)),
        *publishing.figures("publishing it, but for Kafka's client", published),
    ]


class _Nowhere:
    """A publisher that keeps no event."""

    async def connect(self) -> None:
        """Connect to nothing."""

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        """Encode the events and drop them."""


class _CpuCost:
    """The CPU of the work on a pool of one connection, on both of its sides."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self.ours = self.theirs = 0.0

    async def __aenter__(self) -> Self:
        self._server = psutil.Process(await self._pool.fetchval("select pg_backend_pid()"))
        self.ours -= time.process_time()
        self.theirs -= sum(self._server.cpu_times()[:2])
        return self

    async def __aexit__(self, *_: object) -> None:
        self.ours += time.process_time()
        self.theirs += sum(self._server.cpu_times()[:2])

    def figures(self, what: str, times: int) -> list[Figure]:
        return [
            Figure(f"CPU of {what}", f"{self.ours / times * 1e6:.1f} µs"),
            Figure("… and of the process of Postgres that serves it", f"{self.theirs / times * 1e6:.1f} µs"),
        ]


def _mean(sizes: Iterable[int]) -> str:
    values = list(sizes)
    return f"{sum(values) / len(values):,.0f}"
