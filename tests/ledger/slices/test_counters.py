"""Counters of a ledger in slices: a row lies in the slice of its key, and a slice that is away takes along what it has
and nothing else.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest
import structlog

from abacus.core.errors import Unavailable
from abacus.engage.campaigns.decide.campaign_index import compiled
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.evaluator import CampaignEvaluator, Candidate
from abacus.ledger.store.read import LedgerReader
from abacus.platform.postgres import Connection, Pool
from abacus.platform.reading.part_cache import PartCache
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.reading.closed_parts import closed_parts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Count, Grain, Row, SlotRange
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.types import FactRegistry
from tests.engage.campaigns.offers import AROUND, CARDS, MARKET, order
from tests.engage.campaigns.offers import NOW as NOON
from tests.ledger.slices.eight import EIGHT, bring_back, take_away
from tests.signals.counters.reading.asking import DAY_S, catalog, definition, events
from tests.signals.counters.store.rows import NOW, around, quarter, row
from tests.support.fixed_clock import FixedClock

CLOCK: Final = FixedClock(NOW)
AWAY: Final = 3
COUNTERS: Final = ("counter_row", "counter_partition")
RIDES: Final = definition("rides_of:{member_id}", name="rides", id=7, on=(("transactions", "transaction.completed"),))
# A member whose count is in each slice; his account is in another one.
MEMBERS: Final = [
    next(each for each in map("m{}".format, range(999)) if EIGHT.slice_of(RIDES.stored_key(f"rides_of:{each}")) == n)
    for n in range(8)
]
KEYS: Final = [RIDES.stored_key(f"rides_of:{each}") for each in MEMBERS]


def rows_of(upto: int) -> list[Row]:
    return [row(key, quarter(0), 1, upto, upto) for key in KEYS]


@pytest.fixture
def store(pool: Pool) -> PostgresCounterStore:
    return PostgresCounterStore(pool, CLOCK)


async def saved_in(owner: Connection, number: int) -> list[tuple[str, int]]:
    return [tuple(each) for each in await owner.fetch(f"select key, upto from slice_{number}.counter_row order by 1")]


async def partitions_in(owner: Connection, number: int) -> list[int]:
    return [each[0] for each in await owner.fetch(f"select first from slice_{number}.counter_partition order by 1")]


async def test_a_row_lies_in_the_slice_of_its_key(store: PostgresCounterStore, owner: Connection) -> None:
    repeats = row("0f", slot_of(Grain.REPEATS, 1_781_092_800), 1, 1, 9)
    await store.save([*rows_of(1), repeats])
    assert await store.load([each.key for each in [*rows_of(1), repeats]]) == {
        **{each.key: Count(1, 1) for each in rows_of(1)},
        repeats.key: Count(1, 9),
    }
    for number, key in enumerate(KEYS):
        others = [("0f", 9)] if EIGHT.slice_of("0f") == number else []
        assert await saved_in(owner, number) == [*others, (key, 1)]
    assert await owner.fetchval("select count(*) from public.counter_row") == 9


async def test_each_slice_has_its_own_partitions(store: PostgresCounterStore, pool: Pool, owner: Connection) -> None:
    """A row that is kept for long keeps those of its slice only."""
    lasting, fleeting = (
        row(key, quarter(0), 1, 1, 1, keep_s=keep * DAY_S) for key, keep in ((KEYS[1], 90), (KEYS[2], 2))
    )
    await store.save([lasting, fleeting])
    assert [len(await partitions_in(owner, number)) for number in range(4)] == [0, 1, 1, 0]
    await PostgresCounterStore(pool, FixedClock(NOW + timedelta(days=30))).tend_once()
    assert list(await store.sums([around(KEYS[1], quarter(0)), around(KEYS[2], quarter(0))])) == [1, 0]
    made = [await partitions_in(owner, number) for number in range(8)]
    assert made[1] == [lasting.key.slot // 192 * 192, *made[2]]
    assert made[2] == made[0] != []


async def test_what_other_slices_have_is_saved_while_one_is_away(
    store: PostgresCounterStore, owner: Connection
) -> None:
    """The writer saves it all again when the server is back, and that changes nothing."""
    await store.save(rows_of(1))
    await take_away(owner, AWAY, *COUNTERS)
    for work in (store.save(rows_of(2)), store.load([each.key for each in rows_of(2)])):
        with pytest.raises(Unavailable):
            await work
    assert list(await store.sums([around(key, quarter(0)) for key in KEYS if key != KEYS[AWAY]])) == [2] * 7
    await bring_back(owner, AWAY, *COUNTERS)
    saved = await store.load([each.key for each in rows_of(2)])
    assert [saved[each.key].upto for each in rows_of(2)] == [1 if number == AWAY else 2 for number in range(8)]
    await store.save(rows_of(2))
    assert list(await store.sums([around(key, quarter(0)) for key in KEYS])) == [2] * 8


async def test_the_partitions_of_others_are_tended_while_a_slice_is_away(
    store: PostgresCounterStore, owner: Connection
) -> None:
    await take_away(owner, AWAY, *COUNTERS)
    with structlog.testing.capture_logs() as told:
        await store.tend_once()
    assert [each["of_slice"] for each in told if each["event"] == "partitions of counters are not tended"] == [AWAY]
    assert all([await partitions_in(owner, number) for number in range(8) if number != AWAY])


async def test_a_round_asks_each_slice_by_itself(store: PostgresCounterStore) -> None:
    ranges = [around(key, quarter(0)) for key in KEYS]
    assert await store.apart([*ranges, ranges[2]]) == {
        f"slice_{number}": [each] * (1 + (number == 2)) for number, each in enumerate(ranges)
    }
    probes = await store.probes()
    assert probes.keys() == set(EIGHT.schemas)
    assert await store.apart(list(probes.values())) == {name: [probe] for name, probe in probes.items()}


def counting_on(pool: Pool) -> CountService:
    clock, known = FixedClock(NOON), catalog(RIDES)
    parts = PartCache(closed_parts(1000), clock=clock)
    rounds = Rounds(PostgresCounterStore(pool, clock), within_s=5, parts=parts)
    return CountService(lambda: known, rounds, parts, clock, late_by_s=DAY_S, keeps=lambda _: False)


def candidates(offered: Sequence[str]) -> list[Candidate]:
    around = replace(AROUND, counters={RIDES.name: RIDES})
    often = {"operator": "gte", "lhs": "counter.rides(7d)", "rhs": 3}
    ready, _ = compiled(parse_campaign({**MARKET, "when": often}, around).numbered(1), around)
    return [Candidate("t:0:1", b"{}", order(n, member), ready, CARDS["SG"]) for n, member in enumerate(offered)]


async def test_events_whose_counts_are_away_are_decided_later(pool: Pool, owner: Connection) -> None:
    """Also when there are no others; and only when it is a server that is away."""
    at = int(NOON.timestamp()) - 3600
    saving = PostgresCounterStore(pool, FixedClock(NOON))
    for number, member in enumerate(MEMBERS):
        await saving.save(events(RIDES, f"rides_of:{member}", {at: number}))
    counting = counting_on(pool)
    published = replace(AROUND, counters={RIDES.name: RIDES})
    counters = CounterFacts(pool, lambda: published, counting.counts, events_topic="events")
    members = MemberFacts(pool, MembershipStore(pool, CLOCK).tiers_of, LedgerReader(pool).standings_of)
    evaluator, asked = CampaignEvaluator(FactRegistry(counters), members), candidates(MEMBERS)
    assert [each.member_id for each in (await evaluator.evaluate(asked)).matched] == MEMBERS[3:]
    await take_away(owner, AWAY, *COUNTERS)
    judged = await evaluator.evaluate(asked)
    assert [each.member_id for each in judged.matched] == MEMBERS[4:]
    assert judged.later == [asked[AWAY]]
    assert (await evaluator.evaluate([asked[AWAY]])).later == [asked[AWAY]]
    await owner.execute(f"alter table slice_{AWAY}.away_head rename to head")
    with pytest.raises(Unavailable, match="counters unavailable"):
        await evaluator.evaluate(asked)
    await counting.close()


async def test_an_empty_range_shows_whether_a_slice_is_there(store: PostgresCounterStore, owner: Connection) -> None:
    await take_away(owner, AWAY, *COUNTERS)
    answers = dict[str | None, bool]()
    for name, probe in (await store.probes()).items():
        try:
            answers[name] = list(await store.sums([probe])) == [0]
        except Unavailable:
            answers[name] = False
    assert answers == {f"slice_{number}": number != AWAY for number in range(8)}
    assert list(await store.sums([SlotRange(KEYS[0], 0, 0)])) == [0]
