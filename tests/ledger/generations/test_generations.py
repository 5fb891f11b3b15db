"""A ledger in generations: what was posted stays posted once, whichever generation it lies in."""

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest

from abacus.core.errors import RightMissing
from abacus.ledger.generations.keeper import GenerationKeeper
from abacus.ledger.store.claimed_keys import ClaimedKeys
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.port import Status
from abacus.platform.postgres import Pool
from abacus.platform.slices import slices_of
from abacus.proof.verify import verify
from tests.ledger.moves import spend
from tests.support.awards import NOW
from tests.support.commands import abacus
from tests.support.fixed_clock import FixedClock
from tests.support.sealing import RECHECK, earned, tampering

CLOCK = FixedClock(NOW)
MEMBERS = [f"m{number}" for number in range(8)]


def keeper(pool: Pool, most: int = 1) -> GenerationKeeper:
    return GenerationKeeper(pool, CLOCK, most=most)


async def opened(pool: Pool) -> None:
    """The next generation is opened in each slice."""
    async with pool.acquire() as connection:
        for each in await slices_of(pool):
            assert await keeper(pool, most=0).open_next(each, connection)


async def closed(pool: Pool) -> None:
    """A generation that was left is closed in each slice."""
    async with pool.acquire() as connection:
        for each in await slices_of(pool):
            assert await keeper(pool).close_one(each, connection)


def awards(part: int) -> list[Award]:
    return [earned(member, part) for member in MEMBERS]


async def statuses(ledger: PostgresLedger, batch: Sequence[Award]) -> set[Status]:
    return {each.status for each in await ledger.post(batch)}


async def is_sound(pool: Pool) -> bool:
    return (await verify(pool, RECHECK, seals=None)).clean


@pytest.mark.parametrize("are_closed", [False, True])
async def test_a_key_of_an_earlier_generation_is_known(pool: Pool, *, are_closed: bool) -> None:
    ledger = PostgresLedger(pool, CLOCK)
    for part in range(3):
        assert await statuses(ledger, awards(part)) == {Status.POSTED}
        await opened(pool)
        if are_closed:
            await closed(pool)
    for poster in (ledger, PostgresLedger(pool, CLOCK)):
        for part in range(3):
            assert await statuses(poster, awards(part)) == {Status.DUPLICATE}
            others = [each._replace(fingerprint="other facts") for each in awards(part)]
            assert await statuses(poster, others) == {Status.CONFLICT}
    assert await statuses(ledger, awards(3)) == {Status.POSTED}
    assert await is_sound(pool)


async def test_an_account_goes_on_in_the_next_generation(pool: Pool) -> None:
    ledger, moves, reader = PostgresLedger(pool, CLOCK), PostgresMoves(pool, CLOCK), LedgerReader(pool)
    await ledger.post([earned("bob", 0)])
    await opened(pool)
    await ledger.post([earned("bob", 1)])
    await closed(pool)
    (moved,) = await moves.move([spend(1)._replace(member_id="bob")])
    assert moved.status is Status.POSTED
    history = await reader.history("bob", {"GRP": 2**62}, 10)
    assert [each.seq for each in history] == [3, 2, 1]
    assert await is_sound(pool)


async def test_filters_are_read_one_at_a_time_and_deny_what_is_not_there(pool: Pool) -> None:
    ledger, known = PostgresLedger(pool, CLOCK), ClaimedKeys()
    for part in range(3):
        await ledger.post(awards(part))
        await opened(pool)
        await closed(pool)
    everything = [each.key for part in range(4) for each in awards(part)]
    for _ in range(5):
        for each in await slices_of(pool):
            async with each.within() as connection:
                found = await known.among(connection, await begin_posting(connection), everything)
                keys = await connection.fetch("select key from claim")
                assert found.keys() == {row["key"] for row in keys}


async def test_who_posts_holds_up_who_opens_the_next_generation(pool: Pool) -> None:
    (place, *_) = await slices_of(pool)
    async with place.within() as posting, pool.acquire() as connection:
        turn = await begin_posting(posting)
        opening = asyncio.create_task(keeper(pool, most=0).open_next(place, connection))
        await asyncio.sleep(0.2)
        assert not opening.done()
        assert (await posting.fetchval("select max(number) from generation")) == turn.generation
    assert await opening


async def test_a_batch_that_waited_for_the_next_generation_is_posted_there(pool: Pool) -> None:
    ledger = PostgresLedger(pool, CLOCK)
    await ledger.post(awards(0))
    posting = [asyncio.create_task(ledger.post(awards(part))) for part in range(20)]
    await asyncio.gather(*posting, opened(pool))
    assert await statuses(ledger, [each for part in range(20) for each in awards(part)]) == {Status.DUPLICATE}
    assert await is_sound(pool)


@pytest.mark.parametrize("table", ["transfer_1", "claim_1"])
async def test_nothing_is_posted_to_a_generation_that_was_left(pool: Pool, table: str) -> None:
    await PostgresLedger(pool, CLOCK).post(awards(0))
    await opened(pool)
    (place, *_) = await slices_of(pool)
    with pytest.raises(RightMissing):
        async with place.within() as connection:
            await connection.execute(f"insert into {table} select * from {table} limit 0")


@pytest.mark.parametrize(
    "change",
    [
        *("update transfer_1 set points = points", "delete from transfer_1", "truncate transfer_1"),
        *("update claim_2 set fingerprint = ''", "delete from claim_2", "truncate claim_2"),
        "update transfer_2 set points = points",
        "insert into transfer_1 select * from transfer_1",
        "insert into claim select * from claim where generation = 1",
    ],
)
async def test_a_generation_by_its_name_is_no_door(pool: Pool, database_url: str, change: str) -> None:
    await PostgresLedger(pool, CLOCK).post(awards(0))
    await opened(pool)
    await PostgresLedger(pool, CLOCK).post(awards(1))
    (place, *_) = await slices_of(pool)
    owner = await asyncpg.connect(database_url)
    try:
        await owner.execute(f"set search_path = {place.schema or 'public'}, public")
        with pytest.raises(asyncpg.RestrictViolationError, match="is append-only"):
            await owner.execute(change)
    finally:
        await owner.close()


async def test_a_generation_is_opened_when_the_last_is_full_and_closed_when_it_was_left(pool: Pool) -> None:
    ledger = PostgresLedger(pool, CLOCK)
    async with pool.acquire() as connection:
        kept = keeper(pool, most=1_000_000)
        assert await kept.step(connection) == 0
        await ledger.post(awards(0))
        await opened(pool)
        count = len(await slices_of(pool))
        assert await kept.step(connection) == count
        assert await kept.step(connection) == 0
        rows = await connection.fetch("select number, left_at, closed_at, transfers, claims from generation")
    first = [row for row in rows if row["number"] == 1]
    assert {(row["left_at"], row["closed_at"]) for row in first} == {(NOW, NOW)}
    assert sum(row["transfers"] for row in first) == sum(row["claims"] for row in first) == len(MEMBERS)


async def test_two_keepers_open_one_generation(pool: Pool) -> None:
    (place, *_) = await slices_of(pool)
    async with pool.acquire() as one, pool.acquire() as other:
        done = await asyncio.gather(*(keeper(pool, most=0).open_next(place, each) for each in (one, other)))
    assert sum(done) >= 1
    async with place.within() as connection:
        assert await connection.fetchval("select max(number) from generation") == 1 + sum(done)


async def test_a_generation_without_a_filter_is_not_closed(pool: Pool) -> None:
    await opened(pool)
    (place, *_) = await slices_of(pool)
    number = None if place.schema is None else place.number
    async with pool.acquire() as connection:
        with pytest.raises(asyncpg.ObjectNotInPrerequisiteStateError):
            await connection.fetchval("select generation_close(1, now(), 0, 0, $1)", number)


async def test_a_filter_that_was_broken_off_is_made_anew(pool: Pool) -> None:
    ledger = PostgresLedger(pool, CLOCK)
    await ledger.post(awards(0))
    await opened(pool)
    for each in await slices_of(pool):
        async with each.within() as connection:
            await connection.execute("insert into key_filter values (1, 0, ''), (1, 9, '')")
    await closed(pool)
    for poster in (ledger, PostgresLedger(pool, CLOCK)):
        for _ in range(2):
            assert await statuses(poster, awards(0)) == {Status.DUPLICATE}


async def test_a_key_twice_and_a_number_twice_are_found_over_generations(pool: Pool, database_url: str) -> None:
    ledger = PostgresLedger(pool, CLOCK)
    await ledger.post([earned("bob", 0)])
    await opened(pool)
    async with tampering(database_url) as superuser:
        for table in ("transfer", "claim"):
            await superuser.execute(f"create temporary table copied as select * from {table}")
            await superuser.execute("update copied set generation = 2")
            await superuser.execute(f"insert into {table} select * from copied; drop table copied")
    assert not await is_sound(pool)


async def test_a_key_that_was_posted_to_two_generations_without_a_look_is_found(pool: Pool, database_url: str) -> None:
    """All else is in order: each transfer has its claim, and each claim its transfer."""
    await PostgresLedger(pool, CLOCK).post([earned("bob", 0)])
    await opened(pool)
    async with tampering(database_url) as superuser:
        await superuser.execute("create temporary table hidden as select * from claim")
        await superuser.execute("delete from claim")
        await PostgresLedger(pool, CLOCK).post([earned("bob", 0)])
        await superuser.execute("insert into claim select * from hidden; drop table hidden")
    report = await verify(pool, RECHECK, seals=None)
    assert [fault.what for fault in report.faults] == ["its key txn:meals:bob-0 is claimed in two generations"]


async def test_the_command_lists_them(pool: Pool, database_url: str) -> None:
    await PostgresLedger(pool, CLOCK).post(awards(0))
    await opened(pool)
    await closed(pool)
    env = {"ABACUS_DATABASE_URL": database_url}
    listed = (await abacus("ledger", "generations", "--json", env=env)).json
    count = len(await slices_of(pool))
    assert [(each["slice"], each["number"]) for each in listed] == [(n, g) for n in range(count) for g in (1, 2)]
    assert sum(each["transfers"] or 0 for each in listed) == len(MEMBERS)
    assert [each["left_at"] is None for each in listed] == [False, True] * count
    assert "takes rows" in (await abacus("ledger", "generations", env=env)).out
