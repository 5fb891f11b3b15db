"""Tiers of a million accounts: counted from events in batches, as the reader of the stream hands them over; read as a
calculator reads them; and ended. In one ledger, and in one that is cut into slices.
"""

import random
import time
from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.sources import STREAM
from abacus.ledger.decide.chain import CURRENT
from abacus.ledger.types.account import NO_HASH
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from abacus.platform.slices import SliceMap
from abacus.pricing.store.cards import CardReader, CardStore
from abacus.process import look_for_garbage_seldom
from abacus.programs.tiers.keeper import Keeper
from abacus.programs.tiers.roll import Roll
from abacus.programs.tiers.store import MembershipStore
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate
from benchmarks.sliced_database import sliced_database
from tests.support.cluster import Servers

WANTED: Final = 5_000
BATCH: Final = 2_000  # the most that the reader hands over
WARM_UP: Final = 5
ROUNDS: Final = 25
ENDED: Final = 50_000
SLICES: Final = 8
ASKED: Final = 500  # the accounts of a batch of a calculator

_NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)
_EXPLANATION: Final = (
    b'{"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],["eppf","SG","1"],'
    b'["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}'
)

_MEMBER: Final = "'{prefix}' || lpad(n::text, 8, '0')"
_OF_SLICE: Final = f"abacus_slice_of({_MEMBER}, {{slices}}) = {{number}}"
_ACCOUNTS: Final = f"""
insert into {{schema}}.account_tier (member_id, program, country, tier, last_seq)
select {_MEMBER}, 'GRP', 'SG', 'member', 1 from generate_series(0, $1::int - 1) as n where {_OF_SLICE}
"""
_TALLIES: Final = """
insert into {schema}.tier_tally (member_id, program, starts_on, ends_on, until, earned, tier, threshold)
select member_id, program, '2026-01-01', '2026-06-30', '2026-12-31', 90, 'member', 0 from {schema}.account_tier
"""
_LASTED: Final = f"""
insert into {{schema}}.account_tier (member_id, program, country, tier, until, last_seq, changes)
select {_MEMBER}, 'GRP', 'VN', 'silver', '2025-12-31', 1, 1 from generate_series(1, $1::int) as n where {_OF_SLICE}
"""


@dataclass(slots=True)
class Ledger:
    """A ledger with accounts, what works on it, and the seconds that each kind of work took."""

    slice_map: SliceMap
    owner: Pool
    pool: Pool
    cards: CardReader
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    async def took(self, what: str, doing: Awaitable[object]) -> None:
        began = time.perf_counter()
        await doing
        self.seconds[what].append(time.perf_counter() - began)

    def keeper(self) -> Keeper:
        return Keeper(self.pool, self.cards, SystemClock(), WorkerHealth("tierkeeper"))

    async def enter(self, statement: str, prefix: str, count: int) -> None:
        for number, schema in enumerate(self.slice_map.schemas):
            place = {"schema": schema, "slices": self.slice_map.slices, "number": number, "prefix": prefix}
            await self.owner.execute(statement.format(**place), count, timeout=600)


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, sqs=False, kafka=False))
        servers = await Servers.of(embedded.database_url or "")
        whole, cut_up = [await _ledger(stack, servers, slices, accounts) for slices in (1, SLICES)]
        rng = random.Random(1)
        known = [_batch(rng, accounts, 2 + round_) for round_ in range(WARM_UP + ROUNDS)]
        new = [_batch(rng, BATCH, 1, f"n{round_}-") for round_ in range(WARM_UP)]
        asked = [[(f"m{member:08}", "GRP") for member in rng.sample(range(accounts), ASKED)] for _ in range(ROUNDS)]
        look_for_garbage_seldom()
        for batch in known[:WARM_UP]:
            for ledger in (whole, cut_up):
                await ledger.keeper().handle(batch)
        for what, batches in (("known", known[WARM_UP:]), ("new", new), ("again", known[WARM_UP:])):
            for number, batch in enumerate(batches):
                for ledger in _in_turns(whole, cut_up, number):
                    await ledger.took(what, ledger.keeper().handle(batch))
        for number, ids in enumerate(asked):
            for ledger in _in_turns(whole, cut_up, number):
                await ledger.took("asked", MembershipStore(ledger.pool, SystemClock()).tiers_in_reach(ids))
        changes = await whole.owner.fetchval("select count(*) from tier_change")
        for ledger in (whole, cut_up):
            await ledger.enter(_LASTED, "v", ENDED)
            await ledger.took("ended", Roll(ledger.pool, ledger.cards.book(), SystemClock()).due("VN"))
    return _figures(whole.seconds, cut_up.seconds, accounts, changes)


def _figures(
    whole: Mapping[str, Sequence[float]], cut_up: Mapping[str, Sequence[float]], accounts: int, changes: int
) -> list[Figure]:
    def per_second(what: str, count: int) -> float:
        return count * len(whole[what]) / sum(whole[what])

    def in_slices(what: str) -> str:
        return f"in {SLICES} slices {ratio_of(whole[what], cut_up[what])} times the time"

    counting = per_second("known", BATCH)
    return [
        Figure(
            f"tier keeper, {accounts:,} accounts, batches of {BATCH:,}, {changes:,} changes of tier",
            rate(counting, "events"),
            f"{sum(whole['known']) / sum(whole['again']):.1f} times the time of events heard before;"
            f" {in_slices('known')}",
            f">= {WANTED:,}/s",
            counting >= WANTED,
        ),
        Figure("… accounts heard of for the first time", rate(per_second("new", BATCH), "events"), in_slices("new")),
        Figure("… events heard before", rate(per_second("again", BATCH), "events"), in_slices("again")),
        Figure(f"reading the tiers of {ASKED}", rate(per_second("asked", ASKED), "accounts"), in_slices("asked")),
        Figure(
            f"the end of a period, {ENDED:,} tiers that lasted to it",
            rate(per_second("ended", ENDED), "members"),
            in_slices("ended"),
        ),
    ]


async def _ledger(stack: AsyncExitStack, servers: Servers, slices: int, accounts: int) -> Ledger:
    url = await sliced_database(stack, servers, f"abacus_tiers_{slices}", slices)
    owner = await open_pool(url, size=1, role=None)
    stack.push_async_callback(owner.close)
    for card in example_cards():
        await CardStore(owner).publish(card, by="benchmark", now=SystemClock().now())
    pool = await open_pool(url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    stack.push_async_callback(pool.close)
    cards = CardReader(CardStore(pool).all)
    await cards.refresh()
    ledger = Ledger(SliceMap(slices), owner, pool, cards)
    await ledger.enter(_ACCOUNTS, "m", accounts)
    for schema in ledger.slice_map.schemas:
        await owner.execute(_TALLIES.format(schema=schema), timeout=600)
        await owner.execute(f"vacuum analyze {schema}.account_tier, {schema}.tier_tally", timeout=600)
    await owner.execute("checkpoint", timeout=600)
    return ledger


def _in_turns(first: Ledger, second: Ledger, number: int) -> Sequence[Ledger]:
    """Neither is always the first after the other."""
    return (first, second) if number % 2 else (second, first)


def _batch(rng: random.Random, accounts: int, seq: int, prefix: str = "m") -> list[Record]:
    """A batch takes most of its members to 270 points, and some of those who come again over the threshold of 300."""
    return [
        Record(_event(f"{prefix}{member:08}", seq, offset), "points", 0, offset)
        for offset, member in enumerate(rng.sample(range(accounts), BATCH))
    ]


def _event(member: str, seq: int, number: int) -> bytes:
    at = _NOW + timedelta(seconds=number)
    return encode_event(
        Transfer(
            member,
            "GRP",
            seq,
            TransferKind.EARN,
            180,
            180,
            f"txn:rides:{member}-{seq}-{number}",
            "SG",
            at,
            at,
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
    )
