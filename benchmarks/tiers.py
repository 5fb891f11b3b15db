"""The tier keeper over a million accounts: events in batches, as the reader of the stream hands them over."""

import random
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.core.sources import STREAM
from abacus.ledger.decide.chain import CURRENT
from abacus.ledger.types.account import NO_HASH
from abacus.ledger.types.award import Kind
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.migrations import migrate
from abacus.platform.postgres import LOOKUPS_BY_KEY, open_pool
from abacus.pricing.store.cards import CardStore
from abacus.pricing.store.reader import CardReader
from abacus.process import look_for_garbage_seldom
from abacus.programs.tiers.keeper import Keeper
from abacus.programs.tiers.roll import Roll
from benchmarks.report import Figure, rate

WANTED: Final = 5_000
BATCH: Final = 2_000  # the most that the reader hands over
WARM_UP: Final = 5
ROUNDS: Final = 25
ENDED: Final = 50_000

_NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)
_EXPLANATION: Final = (
    b'{"amount":"15.00","currency":"SGD","card":"SG@7","factors":[["vertical","food","2"],["eppf","SG","1"],'
    b'["cashless","wallet","2"],["tier","platinum","3"]],"product":"180.00","rounding":"floor","points":180}'
)

_ACCOUNTS: Final = """
insert into account_tier (member_id, program, country, tier, last_seq)
select 'm' || lpad(n::text, 8, '0'), 'GRP', 'SG', 'member', 1 from generate_series(0, $1::int - 1) as n
"""
_TALLIES: Final = """
insert into tier_tally (member_id, program, starts_on, ends_on, until, earned, tier, threshold)
select member_id, program, '2026-01-01', '2026-06-30', '2026-12-31', 90, 'member', 0 from account_tier
"""


_LASTED: Final = """
insert into account_tier (member_id, program, country, tier, until, last_seq, changes)
select 'v' || lpad(n::text, 8, '0'), 'GRP', 'VN', 'silver', '2025-12-31', 1, 1 from generate_series(1, $1::int) as n
"""


async def measure(directory: Path, accounts: int) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        owner = await open_pool(url, size=1, role=None)
        for card in example_cards():
            await CardStore(owner).publish(card, by="benchmark", now=SystemClock().now())
        await owner.execute(_ACCOUNTS, accounts, timeout=600)
        await owner.execute(_TALLIES, timeout=600)
        await owner.execute("vacuum analyze account_tier, tier_tally", timeout=600)
        await owner.execute("checkpoint", timeout=600)
        pool = await open_pool(url, size=3, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
        cards = CardReader(CardStore(pool).all)
        await cards.refresh()
        keeper = Keeper(pool, cards, SystemClock(), WorkerHealth("tierkeeper"))
        rng = random.Random(1)
        known = [_batch(rng, accounts, 2 + round_) for round_ in range(WARM_UP + ROUNDS)]
        new = [_batch(rng, BATCH, 1, f"n{round_}-") for round_ in range(WARM_UP)]
        look_for_garbage_seldom()
        await _seconds(keeper, known[:WARM_UP])
        counting = await _seconds(keeper, known[WARM_UP:])
        opening = await _seconds(keeper, new)
        again = await _seconds(keeper, known[WARM_UP:])
        changes = await owner.fetchval("select count(*) from tier_change")
        await owner.execute(_LASTED, ENDED, timeout=600)
        began = time.perf_counter()
        await Roll(pool, cards.book(), SystemClock()).due("VN")
        rolling = time.perf_counter() - began
        await pool.close()
        await owner.close()
    per_second = ROUNDS * BATCH / counting
    return [
        Figure(
            f"tier keeper, {accounts:,} accounts, batches of {BATCH:,}, {changes:,} changes of tier",
            rate(per_second, "events"),
            f"{counting / again:.1f} times the time of events heard before",
            f">= {WANTED:,}/s",
            per_second >= WANTED,
        ),
        Figure("… accounts heard of for the first time", rate(WARM_UP * BATCH / opening, "events")),
        Figure("… events heard before", rate(ROUNDS * BATCH / again, "events")),
        Figure(f"the end of a period, {ENDED:,} tiers that lasted to it", rate(ENDED / rolling, "members")),
    ]


async def _seconds(keeper: Keeper, batches: Sequence[Sequence[Record]]) -> float:
    began = time.perf_counter()
    for batch in batches:
        await keeper.handle(batch)
    return time.perf_counter() - began


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
            Kind.EARN,
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
            format=CURRENT,
            hash=NO_HASH,
        )
    )
