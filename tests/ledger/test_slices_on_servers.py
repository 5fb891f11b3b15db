"""Slices on several servers: points are posted, moved and published while slices move, and the ledger stays whole.

These run where `ABACUS_TEST_DATABASE_URL` names the coordinator of a Citus, with `ABACUS_TEST_SLICES` of two or more.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import date
from typing import Final

import asyncpg
import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Unavailable
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.sums import done_before
from abacus.engage.limits.decide.pots import Limited, pot_of
from abacus.engage.limits.pot_store import PotStore
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.store.allowances import awarded, lock
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.rows import lock_accounts
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.port import Status
from abacus.platform import slices
from abacus.platform.cluster.placement import placement_at
from abacus.platform.postgres import LOOKUPS_BY_KEY, LOOKUPS_BY_VALUES, Pool, open_pool, snapshot
from abacus.platform.slices import slice_map_of, slice_of
from abacus.platform.slices.layout import HEAD
from abacus.programs.tiers.calendar import hold_calendars, move_calendar
from abacus.programs.tiers.store import MembershipStore
from abacus.proof.store import Seals
from abacus.proof.verify import verify
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Count, Grain, Row, RowKey, SlotRange
from tests.engage.campaigns.offers import all_matched, campaign, order
from tests.ledger.moves import spend
from tests.support.awards import award
from tests.support.cluster import Servers
from tests.support.keeping import keep_until, keeper
from tests.support.logged import limits_logged
from tests.support.points_broker import Broker, Relays, publish_all
from tests.support.sealing import RECHECK, earned
from tests.support.services import Services
from tests.support.slices import SLICES
from tests.support.stepping import one_step
from tests.support.waiting import waiting

MEMBERS: Final = [f"m{number}" for number in range(40)]
POSTERS: Final = 3
PAUSE_S: Final = 0.05
DAY_S: Final = 86_400


@pytest.fixture(autouse=True)
def _on_several(servers: Servers) -> None:
    if not servers.are_several or SLICES == 1:
        pytest.skip("ABACUS_TEST_DATABASE_URL names no Citus, or ABACUS_TEST_SLICES is 1")


@pytest.fixture
async def alone(services: Services) -> AsyncIterator[None]:
    """Citus names what a move needs on the servers without the database, so one test at a time moves slices."""
    connection = await asyncpg.connect(services.database_url)
    await connection.execute("select pg_advisory_lock(hashtext('abacus moves slices'))")
    yield
    await connection.close()


ALONE: Final = pytest.mark.usefixtures("alone")


async def register(pool: Pool, partner_id: str, limits: Limits) -> None:
    now = SystemClock().now()
    made = Partner(partner_id, partner_id, True, True, (), None, 1000, None, now, "tests", None)  # noqa: FBT003  # as stored
    await PartnerStore(pool, SystemClock()).create(made, limits, LIVE_KEY.new(), also=limits_logged(made.partner_id))


def gift(member: str, key: str) -> Award:
    return award(key=f"api:acme:{key}", member_id=member, points=10, activity=False)


async def move_four(database_url: str) -> None:
    """Slices, one after the other, each to another server."""
    async with placement_at(database_url) as placement:
        servers = await placement.servers()
        for each in (await placement.placed())[:4]:
            await placement.move(each.schema, next(at for at in servers if at != each.address))


async def posted_until(pool: Pool, done: asyncio.Event, poster: int) -> int:
    """Posts to every member, again and again; each batch until all of it is posted, and once more."""
    ledger, rounds = PostgresLedger(pool, SystemClock()), 0
    while not done.is_set():
        awards = [earned(member, rounds * POSTERS + poster) for member in MEMBERS]
        statuses = {Status.WAITS}
        while statuses != {Status.DUPLICATE}:
            with suppress(Unavailable):
                statuses = {each.status for each in await ledger.post(awards)}
            await asyncio.sleep(PAUSE_S)
        rounds += 1
    return rounds


@ALONE
@pytest.mark.timeout(300)
@pytest.mark.parametrize("blocking", [False, True], ids=["logical", "blocking"])
async def test_nothing_is_lost_while_slices_move(database_url: str, pool: Pool, *, blocking: bool) -> None:
    own = await open_pool(database_url, size=4, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    done, broker = asyncio.Event(), Broker()
    relay = Relays(pool, broker, SystemClock())
    posting = [asyncio.create_task(posted_until(own, done, poster)) for poster in range(POSTERS)]
    try:
        async with placement_at(database_url) as placement:
            before = {each.schema: each.address for each in await placement.placed()}
            servers = await placement.servers()
            for schema, source in list(before.items())[:3]:
                await placement.move(schema, next(each for each in servers if each != source), blocking=blocking)
                await one_step(pool, relay)  # no more: posters are quicker than this
            after = {each.schema: each.address for each in await placement.placed()}
    finally:
        done.set()
        rounds = await asyncio.gather(*posting)
        await own.close()
    assert sum(before[schema] != after[schema] for schema in before) == 3
    await publish_all(relay, pool)
    seqs = Counter(event.subject for event in broker.events)
    assert seqs == dict.fromkeys(MEMBERS, sum(rounds))
    for member in MEMBERS:
        told = [event.data.seq for event in broker.events if event.subject == member]
        assert told == list(range(1, sum(rounds) + 1)), "in order, and without a gap"
    await Seals(pool, SystemClock()).make()
    report = await verify(pool, RECHECK)
    assert (report.faults, report.transfers, report.seals) == ([], sum(rounds) * len(MEMBERS), [1])


@pytest.mark.parametrize("near", [True, False], ids=["at its server", "through the coordinator"])
async def test_a_slice_stays_where_it_is_until_whoever_has_its_turn_is_done(
    database_url: str, pool: Pool, *, near: bool
) -> None:
    """What was read there is written there: accounts that are locked are found again by their rows' addresses."""
    schema = (await slice_of(pool, MEMBERS[0])).schema
    assert schema is not None
    async with placement_at(database_url) as placement:
        source = next(each.address for each in await placement.placed() if each.schema == schema)
        target = next(each for each in await placement.servers() if each != source)
        async with pool.acquire(schema=schema, near=near) as connection, connection.transaction():
            await lock_accounts(connection, await begin_posting(connection), [(MEMBERS[0], "GRP")])
            moving = asyncio.create_task(placement.move(schema, target, blocking=True))
            await waiting(pool, moving)
        await moving
    await PostgresLedger(pool, SystemClock()).post([earned(MEMBERS[0], 0)])
    owner = await asyncpg.connect(database_url)
    await owner.execute("call citus_cleanup_orphaned_resources()")  # what was left at its old server
    await owner.close()
    report = await verify(pool, RECHECK)
    assert (report.faults, report.transfers) == ([], 1), "it was read where it is now"


@ALONE
@pytest.mark.timeout(300)
async def test_points_count_once_for_tiers_while_their_slice_moves(database_url: str, pool: Pool) -> None:
    """Two keepers hear the same events, as in a rebalance; one looked the servers up before the move."""
    own = await open_pool(database_url, size=4, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    done = asyncio.Event()
    counting = [asyncio.create_task(keep_until(done, keeper(each), MEMBERS)) for each in (pool, own)]
    try:
        async with placement_at(database_url) as placement:
            before = await placement.placed()
            servers = await placement.servers()
            for placed in before[:3]:
                await placement.move(placed.schema, next(each for each in servers if each != placed.address))
    finally:
        done.set()
        rounds = await asyncio.gather(*counting)
        await own.close()
    rows = await pool.fetch("select member_id, sum(earned)::bigint from tier_tally group by 1")
    assert dict(map(tuple, rows)) == dict.fromkeys(MEMBERS, 10 * max(rounds))
    store = MembershipStore(pool, SystemClock())
    for member in MEMBERS[:5]:
        numbers = [change.n for change in await store.history(member, 100)]
        assert numbers == list(range(len(numbers), 0, -1))


@ALONE
@pytest.mark.timeout(300)
@pytest.mark.parametrize("blocking", [False, True], ids=["logical", "blocking"])
async def test_a_limit_of_all_holds_while_slices_move(database_url: str, pool: Pool, *, blocking: bool) -> None:
    """Three processes decide the same events and others, in batches, again when it was cut off."""
    own = await open_pool(database_url, size=12, settings=LOOKUPS_BY_VALUES, keeps_nothing=True)
    limit, size = 1500, 20
    offer = campaign(limits={"runs": {"overall": limit, "day": limit}})
    events = [order(number, MEMBERS[number % len(MEMBERS)]) for number in range(limit + 300)]
    moved = asyncio.Event()

    async def work(slot: int) -> None:
        effects, first = Effects(own, SystemClock(), slot=slot), slot * size
        while first < len(events):
            batch = all_matched(offer, events[first : first + size])
            with suppress(Unavailable):
                if not (await effects.decide(batch)).waiting:
                    first += size
            await asyncio.sleep(PAUSE_S)
            if first >= len(events) and not moved.is_set():
                first = slot * size  # all of them again, while slices still move

    working = [asyncio.create_task(work(slot)) for slot in range(POSTERS)]
    try:
        async with placement_at(database_url) as placement:
            servers = await placement.servers()
            for each in (await placement.placed())[:4]:
                await placement.move(each.schema, next(at for at in servers if at != each.address), blocking=blocking)
    finally:
        moved.set()
        await asyncio.gather(*working)
        await own.close()
    rows = await slices.rows(pool, ("select outcome, sum(events)::bigint as events from campaign_sum group by 1",))
    told = Counter[str]()
    for row in rows:
        told[row["outcome"]] += row["events"]
    assert told["done"] == limit
    assert told.total() == len(events)
    actions = await slices.rows(pool, ("select count(*) as number from action",))
    assert sum(row["number"] for row in actions) == limit
    left = await PotStore(pool, 0, done_before).exactly_left({pot_of(offer.owner): Limited(offer.limits.overall, 1)})
    assert left == {pot_of(offer.owner): (0, 0, 0)}


async def test_slices_stay_while_all_their_slots_are_locked(database_url: str, pool: Pool) -> None:
    """What they hold goes back to the pot, and would be taken again where the slice has come to."""
    offer = campaign(limits={"runs": {"overall": 10}})
    limited = {pot_of(offer.owner): Limited(offer.limits.overall, 1)}
    home, other = [(await slice_map_of(pool)).schema_of(number) for number in (0, 1)]
    async with placement_at(database_url) as placement:
        source = next(each.address for each in await placement.placed() if each.schema == other)
        target = next(each for each in await placement.servers() if each != source)
        async with pool.acquire(schema=home) as connection, connection.transaction():
            await PotStore(pool, 1, done_before).lock(connection, limited, limited)
            moving = asyncio.create_task(placement.move(str(other), target, blocking=True))
            await waiting(pool, moving)
        await moving


@ALONE
@pytest.mark.timeout(300)
async def test_a_partner_s_budget_holds_while_slices_move(database_url: str, pool: Pool) -> None:
    """Three awarders post the same awards and others, each batch until nothing of it waits, and all of them again."""
    own = await open_pool(database_url, size=12, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    budget, size = 12_005, 20
    await register(pool, "acme", Limits(in_total=budget, per_day=budget))
    awards = [gift(MEMBERS[number % len(MEMBERS)], str(number)) for number in range(1500)]
    moved, fates = asyncio.Event(), dict[str, Status]()

    async def work(poster: int) -> None:
        ledger, first = PostgresLedger(own, SystemClock()), poster * size
        while first < len(awards):
            statuses = [Status.WAITS]
            with suppress(Unavailable):
                outcomes = await ledger.post(awards[first : first + size])
                statuses = [each.status for each in outcomes]
                for each in outcomes:
                    fates[each.award.key] = Status.POSTED if each.status is Status.DUPLICATE else each.status
            if Status.WAITS not in statuses:
                first += size
            await asyncio.sleep(PAUSE_S)
            if first >= len(awards) and not moved.is_set():
                first = poster * size

    working = [asyncio.create_task(work(poster)) for poster in range(POSTERS)]
    try:
        await move_four(database_url)
    finally:
        moved.set()
        await asyncio.gather(*working)
        await own.close()
    assert Counter(fates.values()) == {Status.POSTED: budget // 10, Status.REJECTED: len(awards) - budget // 10}
    assert (await awarded(pool))["acme"].used == budget // 10 * 10
    assert (await verify(pool, lambda _: None)).clean


@ALONE
@pytest.mark.timeout(300)
async def test_counts_come_out_while_slices_move(database_url: str, pool: Pool) -> None:
    """Two writers save rows of all slices, each save until it is durable, and once more; and rows that need partitions
    which nobody has made. Old partitions are dropped meanwhile.
    """
    own = await open_pool(database_url, size=4, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    clock = SystemClock()
    today = int(clock.now().timestamp()) // DAY_S * DAY_S
    moved, rounds, made = asyncio.Event(), Counter[int](), Counter[int]()

    async def save(store: PostgresCounterStore, rows: list[Row]) -> None:
        for _ in range(2):
            while True:
                with suppress(Unavailable):
                    await store.save(rows)
                    break
                await asyncio.sleep(PAUSE_S)

    async def work(writer: int) -> None:
        store = PostgresCounterStore(own, clock)
        while not moved.is_set():
            rounds[writer] += 1
            count = rounds[writer]
            slots = {slot_of(Grain.QUARTER, today - back * DAY_S) for back in (0, 2 * count)}
            untils = today + 9 * DAY_S
            rows = [Row(RowKey(key, slot, writer), Count(count, count), untils) for key in MEMBERS for slot in slots]
            await save(store, rows)
            over = slot_of(Grain.REPEATS, today - (100 * writer + count) * DAY_S)
            with suppress(asyncpg.PostgresError):
                await own.execute("select counter_partition_keep($1, $2, 1, $3)", over, over + 96, count % SLICES)
                made[writer] += 1
            await store.tend_once()
            await asyncio.sleep(PAUSE_S)

    working = [asyncio.create_task(work(writer)) for writer in (1, 2)]
    try:
        await move_four(database_url)
    finally:
        moved.set()
        await asyncio.gather(*working)
        await own.close()
    assert min(rounds.values()) > 1
    assert made.total() > 1
    store = PostgresCounterStore(pool, clock)
    for count in range(1, max(rounds.values()) + 1):
        slot = slot_of(Grain.QUARTER, today - 2 * count * DAY_S)
        expected = sum(count for reached in rounds.values() if reached >= count)
        assert list(await store.sums([SlotRange(key, slot, slot + 1) for key in MEMBERS])) == [expected] * len(MEMBERS)
    slot = slot_of(Grain.QUARTER, today)
    assert list(await store.sums([SlotRange(key, slot, slot + 1) for key in MEMBERS])) == [rounds.total()] * len(
        MEMBERS
    )


@pytest.mark.parametrize("whole", [[], ["acme"]], ids=["what is in hand", "all that is left"])
async def test_a_slice_stays_while_its_part_of_a_budget_is_locked(
    database_url: str, pool: Pool, whole: list[str]
) -> None:
    """What was read of it there is written there."""
    await register(pool, "acme", Limits(in_total=1000))
    await PostgresLedger(pool, SystemClock()).post([gift(member, member) for member in MEMBERS])
    home, other = [(await slice_map_of(pool)).schema_of(number) for number in (0, 1)]
    schema = other if whole else home
    async with placement_at(database_url) as placement:
        source = next(each.address for each in await placement.placed() if each.schema == schema)
        target = next(each for each in await placement.servers() if each != source)
        first = (await slices.slices_of(pool))[0]
        async with first.together() if whole else first.within() as connection:
            await lock(connection, ["acme"], whole, SystemClock().now().date())
            moving = asyncio.create_task(placement.move(str(schema), target, blocking=True))
            await waiting(pool, moving)
        await moving


@pytest.mark.parametrize("near", [True, False], ids=["at its server", "through the coordinator"])
async def test_a_calendar_is_locked_where_its_slice_is_whoever_was_asked(pool: Pool, *, near: bool) -> None:
    schema = (await slice_of(pool, MEMBERS[0])).schema

    async def move() -> None:
        async with pool.acquire(schema=schema, near=not near) as connection, slices.in_place(connection):
            await move_calendar(connection, "SG", date(2026, 12, 31))

    async with pool.acquire(schema=schema, near=near) as counting, slices.in_place(counting):
        assert await hold_calendars(counting, ["SG", "TH"]) == {}
        moving = asyncio.create_task(move())
        await waiting(pool, moving)
    await moving
    async with slices.at(pool, MEMBERS[0]) as connection, connection.transaction():
        assert await hold_calendars(connection, ["SG"]) == {"SG": date(2026, 12, 31)}


async def test_movements_and_proofs_reach_each_server(pool: Pool) -> None:
    await PostgresLedger(pool, SystemClock()).post([earned(member, 1) for member in MEMBERS])
    moves = PostgresMoves(pool, SystemClock())
    moved = await moves.move([spend(3, f"api:acme:{member}", member) for member in MEMBERS])
    assert {each.status for each in moved} == {Status.POSTED}
    seal = (await Seals(pool, SystemClock()).make()).seal
    assert len(seal.snapshots) == (await slice_map_of(pool)).slices
    for member in MEMBERS[:8]:
        assert (await Seals(pool, SystemClock()).prove((member, "GRP"))).fault(seal.root.hex()) is None


async def test_sums_over_the_ledger_have_their_memory_on_each_server(pool: Pool) -> None:
    statement = (f"select current_setting('work_mem') as memory from {HEAD}",)
    async with snapshot(pool) as connection:
        rows = await slices.rows_on(connection, statement)
    assert [row["memory"] for row in rows] == ["64MB"] * SLICES
