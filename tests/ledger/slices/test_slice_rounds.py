"""What comes for a slice while it is written is written together; what cannot be written holds up nothing else."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from abacus.core.errors import Unavailable
from abacus.intake.awarding.awarder import Awarder
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.intake.partners.register import Register
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.slices import MOST_TOGETHER
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.port import Status, Unpostable
from abacus.ledger.types.reversal_message import encode_reversal
from abacus.platform.postgres import Connection, Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.packer import pack
from abacus.platform.sqs.port import Received
from tests.ledger.moves import refund, spend
from tests.ledger.slices.eight import CLOCK, FIRST, MEMBERS, SECOND, gift, keys_in
from tests.support.awards import NOW, award
from tests.support.door import door
from tests.support.waiting import waiting


@asynccontextmanager
async def turn_taken(pool: Pool) -> AsyncIterator[None]:
    """While another writer has the turn of the first slice."""
    async with pool.acquire(schema="slice_0") as connection, connection.transaction():
        await connection.fetchval("select one from head where one for update")
        yield


async def while_turn_is_taken(pool: Pool, ledger: PostgresLedger, *posts: Sequence[Award]) -> list[Any]:
    """What these posts for the first slice say, all of which came while it was being written. Each has an award of the
    second slice with it: when that is posted, the others are in line.
    """
    async with turn_taken(pool):
        first = asyncio.create_task(ledger.post([gift(FIRST, "k0")]))
        await waiting(pool, first)
        with_marks = [[*awards, gift(SECOND, f"mark {number}")] for number, awards in enumerate(posts)]
        posting = asyncio.gather(*map(ledger.post, with_marks), return_exceptions=True)
        while len(await keys_in(pool, 1)) < len(posts):  # noqa: ASYNC110  # only the server knows
            await asyncio.sleep(0.01)
    await first
    return await posting


async def sizes_of_transactions(pool: Pool, number: int = 0) -> list[int]:
    """In that slice."""
    async with pool.acquire(schema=f"slice_{number}") as connection:
        rows = await connection.fetch("select count(*) from transfer group by xid order by xid::text::int")
    return [row["count"] for row in rows]


async def test_what_comes_while_a_slice_is_written_is_written_together(pool: Pool, ledger: PostgresLedger) -> None:
    posts = [[gift(FIRST, f"k{number}"), gift(FIRST, f"j{number}")] for number in range(1, 6)]
    *new, again = await while_turn_is_taken(pool, ledger, *posts, [gift(FIRST, "k0")])
    assert [[each.status for each in outcomes] for outcomes in new] == [[Status.POSTED] * 3] * 5
    assert [[each.award for each in outcomes[:2]] for outcomes in new] == posts
    assert [each.status for each in again] == [Status.DUPLICATE, Status.POSTED]
    assert await sizes_of_transactions(pool) == [1, 10]


async def test_what_comes_while_other_slices_of_its_server_are_written_is_written_together(
    pool: Pool, ledger: PostgresLedger, owner: Connection
) -> None:
    """Two are written at a time: a third waits, and takes along what comes for it meanwhile."""
    async with owner.transaction():
        for number in (0, 1):
            await owner.fetchval(f"select one from slice_{number}.head where one for update")
        posting = [asyncio.create_task(ledger.post([gift(member, f"of {member}")])) for member in (FIRST, SECOND)]
        await waiting(pool, *posting)
        for number in range(3):
            posting.append(asyncio.create_task(ledger.post([gift(MEMBERS[2], f"k{number}")])))
            await entered(pool, f"k{number}")
        assert await keys_in(pool, 2) == []
    outcomes = await asyncio.gather(*posting)
    assert [each.status for [each] in outcomes] == [Status.POSTED] * 5
    assert await sizes_of_transactions(pool, 2) == [3]


async def entered(pool: Pool, key: str) -> None:
    """Returns when the register has the key: its award is in line then."""
    while not await pool.fetchval("select true from key_slice where key = $1", key):  # noqa: ASYNC110  # as above
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)


async def test_a_round_has_a_limit(pool: Pool, ledger: PostgresLedger) -> None:
    size = MOST_TOGETHER // 2
    await while_turn_is_taken(pool, ledger, *[[gift(FIRST, f"{n}:{each}") for each in range(size)] for n in range(3)])
    assert await sizes_of_transactions(pool) == [1, 2 * size, size]


async def test_nobody_fails_for_what_another_brought(pool: Pool, ledger: PostgresLedger) -> None:
    """Also when both are written together."""
    bad = award(key="bad", member_id=FIRST, explanation=b"no json")
    good, failed, other = await while_turn_is_taken(pool, ledger, [gift(FIRST, "k1")], [bad], [gift(FIRST, "k2")])
    assert [each.status for each in (*good, *other)] == [Status.POSTED] * 4
    assert isinstance(failed, Unpostable)
    assert await keys_in(pool, 0) == ["k0", "k1", "k2"]


async def test_movements_of_a_slice_that_is_away_wait_and_others_are_done(
    pool: Pool, ledger: PostgresLedger, owner: Connection
) -> None:
    await ledger.post([gift(FIRST, "k"), gift(SECOND, "l")])
    await owner.execute("revoke usage on schema slice_0 from abacus_app")
    movements = [spend(1, "x", FIRST), spend(2, "y", SECOND)]
    moves = PostgresMoves(pool, CLOCK)
    assert [each.status for each in await moves.move(movements)] == [Status.WAITS, Status.POSTED]
    batcher = MovementBatcher(moves, Register(pool, CLOCK))
    lost, done = await asyncio.gather(*map(batcher.move, movements), return_exceptions=True)
    assert isinstance(lost, Unavailable)
    assert not isinstance(done, BaseException)
    assert done.status is Status.DUPLICATE
    await owner.execute("grant usage on schema slice_0 to abacus_app")
    assert [each.status for each in await moves.move(movements)] == [Status.POSTED, Status.DUPLICATE]


async def test_awards_of_a_slice_that_is_away_wait_and_others_are_posted(
    pool: Pool, ledger: PostgresLedger, owner: Connection
) -> None:
    await owner.execute("revoke usage on schema slice_0 from abacus_app")
    awards = [gift(FIRST, "k1"), gift(SECOND, "k2")]
    assert [each.status for each in await ledger.post(awards)] == [Status.WAITS, Status.POSTED]
    with pytest.raises(Unavailable, match='relation "head" does not exist'):
        await ledger.post(awards[:1])
    await owner.execute("grant usage on schema slice_0 to abacus_app")
    assert [each.status for each in await ledger.post(awards)] == [Status.POSTED, Status.DUPLICATE]


def message(number: int, *parts: bytes) -> Received:
    return Received(str(number), "", next(pack("awards", list(parts))), 1)


# Ids that JSON writes in other letters than they have. A search for the id in the text of a message does not find them.
IDS = ["T-0", 'a"b', "a\\b", "crème", "旅", '旅"\\', "\\u0061"]


@pytest.mark.parametrize("id_", IDS)
async def test_messages_of_a_slice_that_is_away_come_again(pool: Pool, owner: Connection, id_: str) -> None:
    """As they are, and later; the others are done."""
    sent: list[str] = []

    async def later(bodies: Sequence[str]) -> None:
        sent.extend(bodies)

    quarantine = QuarantineStore(pool, CLOCK)
    parts = (door(CLOCK), PostgresLedger(pool, CLOCK), PostgresMoves(pool, CLOCK), quarantine)
    ids = (id_, "other", "given", "back")
    keys = [f"txn:rides:{each}" for each in ids]
    awards = [award(key=key, member_id=FIRST if key == keys[0] else SECOND) for key in keys]
    taken_back, done = (
        encode_reversal(refund("1.00", of=of, key=f"refund:rides:{name}", member_id=member, occurred_at=NOW))
        for of, name, member in ((keys[0], id_, FIRST), (keys[3], "done", SECOND))
    )
    received = [
        message(0, encode_award(awards[0])),
        message(1, encode_award(awards[1]), done),
        message(2, encode_award(awards[2]), encode_award(awards[0])),
        message(3, encode_award(awards[3]), taken_back),
    ]
    received[3] = received[3]._replace(body=json.dumps(json.loads(received[3].body)))  # as another program writes it
    await owner.execute("revoke usage on schema slice_0 from abacus_app")
    with pytest.raises(Unavailable, match="the server of a slice is away"):
        await Awarder(*parts).handle(received)
    assert await Awarder(*parts, later=later).handle(received) == received
    assert sent == [received[place].body for place in (0, 2, 3)]
    assert await keys_in(owner, 0) == []
    assert await keys_in(owner, 1) == sorted(keys[1:])
