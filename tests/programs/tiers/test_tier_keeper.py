"""The tier keeper on Postgres: each point counts once, whichever events come again, and whichever keeper reads them."""

import asyncio
import random
from datetime import UTC, date, datetime

import asyncpg
import orjson
import pytest

from abacus.core.clock import SystemClock
from abacus.intake.partners.members import MemberReader
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import total
from abacus.platform.postgres import Connection, Pool
from abacus.programs.tiers.calendar import hold_calendars, move_calendar
from abacus.programs.tiers.metrics import TIER_EVENTS
from abacus.programs.tiers.roll import Roll
from abacus.programs.tiers.store import MembershipStore, tiers_in
from tests.programs.tiers.cards import book, card
from tests.support.fixed_clock import FixedClock
from tests.support.keeping import (
    AUGUST,
    NOW,
    FixedCards,
    earned,
    everything,
    keeper,
    reversed_,
    tiers,
    told,
)
from tests.support.slices import IN_A_SLICE, SLICES, home_of, tables_of
from tests.support.waiting import waiting

END_OF_H2 = date(2026, 12, 31)


async def test_points_become_tiers_and_every_change_is_written_with_them(pool: Pool) -> None:
    await keeper(pool).handle(
        [earned("bob", 1, 200), earned("eve", 1, 5000), earned("bob", 2, 100), reversed_("bob", 3, 1)]
    )
    await keeper(pool).handle([earned("bob", 4, 1), earned("joe", 1, 10)])
    assert await tiers(pool) == {"bob": ("silver", END_OF_H2), "eve": ("platinum", END_OF_H2), "joe": ("member", None)}
    assert await told(pool) == [
        ("bob", 1, "member", "silver", "upgrade"),
        ("bob", 2, "silver", "member", "reversal"),
        ("bob", 3, "member", "silver", "upgrade"),
        ("eve", 1, "member", "platinum", "upgrade"),
    ]


async def test_what_is_delivered_again_changes_nothing(pool: Pool) -> None:
    records = [earned("bob", seq, 100) for seq in range(1, 6)]
    await keeper(pool).handle(records[:3])
    once = await everything(pool)
    for again in (records[:3], records[1:2], records[:2]):
        await keeper(pool).handle(again)
        assert await everything(pool) == once
    await keeper(pool).handle(records)
    assert await tiers(pool) == {"bob": ("silver", END_OF_H2)}
    assert await pool.fetchval("select earned from tier_tally") == 500


def stream(seed: int, count: int = 400) -> list[Record]:
    """Points of a dozen members over two years, in the order of each account."""
    rng, seqs, records = random.Random(seed), dict[str, int](), list[Record]()
    for _ in range(count):
        member = f"m{rng.randrange(12)}"
        seqs[member] = seqs.get(member, 0) + 1
        at = datetime(2025 + rng.randrange(2), rng.randrange(12) + 1, rng.randrange(28) + 1, tzinfo=UTC)
        make = reversed_ if rng.random() < 0.2 else earned
        records.append(make(member, seqs[member], rng.randrange(900), at))
    return records


async def emptied(database_url: str, *tables: str) -> None:
    owner = await asyncpg.connect(database_url)
    await owner.execute(f"truncate {tables_of(*tables)}")
    await owner.close()


async def rolled(pool: Pool, at: datetime) -> None:
    await Roll(pool, book(), FixedClock(at)).due("SG")


@pytest.mark.parametrize("seed", range(3))
async def test_the_whole_stream_again_gives_the_same_tiers(pool: Pool, database_url: str, seed: int) -> None:
    """Events come in batches of any size, with periods ended in between; over the same tables, and over empty ones."""
    rng, records = random.Random(seed), stream(seed)
    start = 0
    while start < len(records):
        size = rng.choice([1, 7, 40])
        await keeper(pool).handle(records[start : start + size])
        start += size
        if start > 200:
            await rolled(pool, datetime(2026, 1, 1, tzinfo=UTC))
    await rolled(pool, datetime(2026, 8, 1, tzinfo=UTC))
    live, changes = await everything(pool), await told(pool)
    assert "period end" in {change[4] for change in changes}

    await keeper(pool).handle(records)
    assert await everything(pool) == live
    assert await told(pool) == changes

    await emptied(database_url, "account_tier", "tier_tally", "tier_change")
    await keeper(pool).handle(records)
    assert await everything(pool) == live

    await emptied(database_url, "account_tier", "tier_tally", "tier_change", "tier_calendar", "tier_roll")
    await keeper(pool).handle(records)
    assert await everything(pool) != live
    await rolled(pool, datetime(2026, 8, 1, tzinfo=UTC))
    assert await everything(pool) == live


@pytest.mark.parametrize("seed", range(3))
async def test_two_keepers_with_the_same_records_count_them_once(pool: Pool, seed: int) -> None:
    """As in a rebalance: a slow keeper still writes events that the next one reads again. Both meet new accounts."""
    records = stream(seed, 200)
    keepers = [keeper(pool) for _ in range(2)]

    async def work(each: int) -> None:
        for start in range(0, len(records), 20):
            await keepers[each].handle(records[start : start + 20])

    await asyncio.gather(work(0), work(1))
    assert len(await told(pool)) == await pool.fetchval("select sum(changes) from account_tier")
    sums: dict[str, int] = {}
    for record in records:
        data = orjson.loads(record.value)["data"]
        sums[data["member_id"]] = sums.get(data["member_id"], 0) + data["points"]
    rows = await pool.fetch("select member_id, sum(earned)::bigint from tier_tally group by 1")
    assert dict(map(tuple, rows)) == sums


async def test_what_cannot_be_read_holds_up_nothing(pool: Pool) -> None:
    before = {name: total(TIER_EVENTS, outcome=name) for name in ("unreadable", "ignored", "counted", "seen")}
    bad = [Record(value, "points", 0, 0) for value in (b"", b"\xff", b'{"type": "abacus.points.earned.v1"}')]
    spent = earned("bob", 2, -50)._replace(value=earned("bob", 2, 50).value.replace(b"points.earned", b"points.spent"))
    await keeper(pool).handle([*bad, earned("bob", 1, 300), spent, earned("bob", 1, 300)])
    assert await tiers(pool) == {"bob": ("silver", END_OF_H2)}
    counts = {name: total(TIER_EVENTS, outcome=name) - count for name, count in before.items()}
    assert counts == {"unreadable": 3, "ignored": 1, "counted": 1, "seen": 1}


async def test_a_country_whose_first_card_came_just_now(pool: Pool) -> None:
    cards = FixedCards(book(card("TH")), later=book(card("TH"), card("SG")))
    await keeper(pool, cards).handle([earned("bob", 1, 300)])
    assert await tiers(pool) == {"bob": ("silver", END_OF_H2)}


async def test_points_of_an_ended_period_are_kept_but_carry_nothing(pool: Pool) -> None:
    async with pool.acquire(schema=await home_of(pool, "bob")) as connection:
        await move_calendar(connection, "SG", END_OF_H2)
    await keeper(pool).handle([earned("bob", 1, 5000), earned("eve", 1, 300, AUGUST)])
    assert await tiers(pool) == {"bob": ("member", None), "eve": ("silver", date(2027, 6, 30))}
    assert await pool.fetchval("select earned from tier_tally where member_id = 'bob'") == 5000


async def test_ending_a_period_waits_for_who_counts_by_the_day_before_and_the_next_wait_for_it(pool: Pool) -> None:
    """Otherwise a keeper could write an ended tier behind the run's back, and the run might never get its turn."""
    home = await home_of(pool, "bob")
    async with pool.acquire(schema=home) as counting, pool.acquire(schema=home) as ending:
        transaction = counting.transaction()
        await transaction.start()
        assert await hold_calendars(counting, ["SG", "TH"]) == {}
        moving = asyncio.create_task(_move(ending))
        await waiting(pool, moving)
        next_one = asyncio.create_task(keeper(pool).handle([earned("bob", 1, 300)]))
        await waiting(pool, moving, next_one)
        await transaction.commit()
        await asyncio.gather(moving, next_one)
    assert await tiers(pool) == {"bob": ("member", None)}


async def _move(connection: Connection) -> None:
    async with connection.transaction():
        await move_calendar(connection, "SG", END_OF_H2)


async def test_more_points_than_any_balance_holds(pool: Pool) -> None:
    most = 10**15
    for start in range(1, 9301, 3100):
        await keeper(pool).handle([earned("bob", seq, most) for seq in range(start, start + 3100)])
    assert await pool.fetchval("select earned from tier_tally") == 2**63 - 1


async def test_an_override_counts_until_it_is_cleared(pool: Pool) -> None:
    store = MembershipStore(pool, FixedClock(NOW))
    await keeper(pool).handle([earned("bob", 1, 300)])
    await store.set(("bob", "GRP"), "gold", reason="a wedding", actor="jane")
    await keeper(pool).handle([earned("bob", 2, 5000)])
    assert await store.tiers_of([("bob", "GRP")]) == {("bob", "GRP"): "gold"}
    assert await store.clear(("bob", "GRP"), reason="over", actor="jane") == "platinum"
    await store.set(("new", "GRP"), "silver", reason="a gift", actor="jane")
    assert await told(pool) == [
        ("bob", 1, "member", "silver", "upgrade"),
        ("bob", 2, "silver", "gold", "override"),
        ("bob", 3, "gold", "platinum", "override cleared"),
        ("new", 1, "member", "silver", "override"),
    ]
    notes = await pool.fetch("select actor, note from tier_change where actor is not null order by n, member_id")
    assert [tuple(row) for row in notes] == [("jane", "a gift"), ("jane", "a wedding"), ("jane", "over")]
    await keeper(pool).handle([earned("new", 1, 300)])
    assert (await pool.fetchrow("select tier, country from account_tier where member_id = 'new'")) == ("silver", "SG")
    assert len(await told(pool)) == 4


async def test_an_operator_and_the_keeper_at_once(pool: Pool) -> None:
    """Each change follows the one before, whether the keeper or the operator comes first."""
    store = MembershipStore(pool, SystemClock())

    async def keep() -> None:
        for seq in range(1, 40):
            await keeper(pool).handle([earned("bob", seq, 150)])

    async def decide() -> None:
        for _ in range(10):
            await store.set(("bob", "GRP"), "gold", reason="x", actor="x")
            await store.clear(("bob", "GRP"), reason="x", actor="x")

    await asyncio.gather(keep(), decide())
    changes = await told(pool)
    assert [change[1] for change in changes] == list(range(1, len(changes) + 1))
    assert [change[2] for change in changes] == ["member", *(change[3] for change in changes[:-1])]
    assert changes[-1][3] == (await tiers(pool))["bob"][0] == "platinum"


async def test_partners_and_the_calculation_read_the_same_tier(pool: Pool) -> None:
    await keeper(pool).handle([earned("bob", 1, 300), earned("eve", 1, 300)])
    store = MembershipStore(pool, FixedClock(NOW))
    await store.set(("eve", "GRP"), "gold", reason="x", actor="x")
    members = ["bob", "eve", "joe"]
    for member in members:
        await pool.execute("insert into account (member_id, program, country) values ($1, 'GRP', 'SG')", member)
    reader = MemberReader(pool)
    shown = {member: (await reader.holdings(member))[0].tier for member in members}
    assert shown == {"bob": "silver", "eve": "gold", "joe": "member"}
    read = await store.tiers_of([(member, "GRP") for member in members])
    assert read == {(member, "GRP"): tier for member, tier in shown.items()}


async def test_reading_tiers_looks_up_by_key(pool: Pool, database_url: str) -> None:
    owner = await asyncpg.connect(database_url, server_settings=IN_A_SLICE)
    try:
        numbers = f"generate_series(1, {20000 * SLICES}) n where abacus_slice_of('m' || n, {SLICES}) = 0"
        await owner.execute(
            "insert into account_tier (member_id, program, tier, country, until)"
            f" select 'm' || n, 'GRP', 'silver', 'SG', '2026-12-31' from {numbers}"
        )
        await owner.execute(f"insert into membership select 'm' || n, 'GRP', 'gold', 'x', 'x', now() from {numbers}")
        await owner.execute("analyze account_tier; analyze membership")
        members = [f"m{number}" for number in range(1, 100)]
        statement, *values = tiers_in(None)(member_ids=members, programs=["GRP"] * len(members))
        plan = await owner.fetch(f"explain {statement}", *values)
        text = "\n".join(row[0] for row in plan)
        assert "Seq Scan" not in text
        assert "membership_pkey" in text
        assert "account_tier_pkey" in text
    finally:
        await owner.close()
