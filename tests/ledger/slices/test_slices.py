"""A ledger in slices: a transaction for each, members where they belong, and a key once over all of them."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from typing import Final

import asyncpg
import pytest

import abacus
from abacus.core.errors import Refused
from abacus.ledger.relay.cursor import START, Position, RelayCursor
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.rows import lock_accounts
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.port import Claim, Status
from abacus.platform.health import WorkerHealth
from abacus.platform.migrations import cut
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.platform.slices import MOST, SliceMap, slice_map_of
from abacus.platform.slices.layout import CUT, OF_A_SLICE
from abacus.proof.verify import verify
from tests.ledger.moves import spend
from tests.ledger.slices.eight import CLOCK, EIGHT, FIRST, MEMBERS, SECOND, gift, keys_in
from tests.support.awards import NOW
from tests.support.commands import abacus as abacus_command
from tests.support.fixed_clock import FixedClock
from tests.support.neighbours import neighbours_are_through
from tests.support.points_broker import TOPIC, Broker
from tests.support.slices import tables_like
from tests.support.stepping import one_step

_LATE: Final = """
insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at, posted_at,
    explanation, hash, xid)
values ($1, 'OVO', 1, 'earn', 1, 1, 'late', 'SG', now(), now(), '{}', '', $2)
"""


async def test_each_member_is_posted_to_in_a_slice(pool: Pool, ledger: PostgresLedger) -> None:
    awards = [gift(member, f"txn:rides:{member}") for member in MEMBERS]
    assert [each.status for each in await ledger.post(awards[::-1])] == [Status.POSTED] * 8
    assert [each.status for each in await ledger.post(awards)] == [Status.DUPLICATE] * 8
    for number, member in enumerate(MEMBERS):
        assert await keys_in(pool, number) == [f"txn:rides:{member}"]
    assert await pool.fetchval("select sum(balance) from account") == 80, "the view has all"
    assert await pool.fetchval("select array_agg(distinct xid::text) from transfer") == ["1"], "the first in each slice"
    assert (await verify(pool, lambda _: None)).clean


async def test_the_database_agrees_on_the_hash(owner: Connection) -> None:
    for slices in (1, 2, 8, 33, MOST):
        names = ["", "bob", "bøb", "日本", *map(str, range(200))]
        rows = await owner.fetch("select abacus_slice_of(n, $2) from unnest($1::text[]) n", names, slices)
        assert [row[0] for row in rows] == [SliceMap(slices).slice_of(name) for name in names]


@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "one after the other"])
async def test_a_key_of_another_slice_is_a_conflict(pool: Pool, ledger: PostgresLedger, *, together: bool) -> None:
    batch = [gift(FIRST, "k"), gift(SECOND, "k"), gift(SECOND, "l")]
    outcomes = await ledger.post(batch) if together else [(await ledger.post([each]))[0] for each in batch]
    assert [each.status for each in outcomes] == [Status.POSTED, Status.CONFLICT, Status.POSTED]
    assert outcomes[1].claim == Claim("k", FIRST, "GRP", 1, f"{FIRST:>016}")
    assert (await keys_in(pool, 0), await keys_in(pool, 1)) == (["k"], ["l"])
    assert (await verify(pool, lambda _: None)).clean


async def test_the_first_in_a_batch_has_the_key_whatever_its_slice(ledger: PostgresLedger) -> None:
    outcomes = await ledger.post([gift(MEMBERS[7], "k"), gift(FIRST, "k")])
    assert [each.status for each in outcomes] == [Status.POSTED, Status.CONFLICT]


async def test_a_key_that_was_entered_and_not_posted_stays_with_its_slice(pool: Pool, ledger: PostgresLedger) -> None:
    """As by a process that was killed in between: its own award is posted later, another member's never."""
    await pool.execute("insert into key_slice values ('k', 0)")
    (other,) = await ledger.post([gift(SECOND, "k")])
    assert (other.status, other.claim) == (Status.CONFLICT, Claim("k", "", "", 0, ""))
    (own,) = await ledger.post([gift(FIRST, "k")])
    assert own.status is Status.POSTED


async def test_movements_share_the_keys(pool: Pool, ledger: PostgresLedger) -> None:
    moves = PostgresMoves(pool, CLOCK)
    await ledger.post([gift(FIRST, "k"), gift(SECOND, "l")])
    moved = await moves.move([spend(1, "k", SECOND), spend(4, "x2", SECOND), spend(3, "x", FIRST)])
    assert [each.status for each in moved] == [Status.CONFLICT, Status.POSTED, Status.POSTED]
    assert [each.movement.member_id for each in moved] == [SECOND, SECOND, FIRST]
    (late,) = await ledger.post([gift(FIRST, "x2")])
    assert late.status is Status.CONFLICT


async def test_two_who_post_a_key_at_once(url: str, pool: Pool) -> None:
    """Whoever enters it first has it; the other one is told, and nothing is paid twice."""
    other = await open_pool(url, size=2)
    try:
        for turn in range(20):
            ledgers = [PostgresLedger(each, CLOCK) for each in (pool, other)]
            posts = (ledger.post([gift(who, f"k{turn}")]) for ledger, who in zip(ledgers, MEMBERS, strict=False))
            statuses = [each[0].status for each in await asyncio.gather(*posts)]
            assert sorted(statuses) == [Status.CONFLICT, Status.POSTED]
    finally:
        await other.close()


async def test_each_slice_is_published_by_a_relay(pool: Pool) -> None:
    """Together they publish everything once, and each account in its order."""
    clock, broker = FixedClock(NOW), Broker()
    ledger = PostgresLedger(pool, clock)
    relays = [
        transfer_relay(pool, broker, TOPIC, clock, WorkerHealth("relay"), schema=schema) for schema in EIGHT.schemas
    ]
    cursor = RelayCursor(pool, TOPIC, clock)
    for turn in range(3):
        clock.set(NOW + timedelta(hours=turn))
        await ledger.post([gift(member, f"{member}:{turn}") for member in MEMBERS])
    await neighbours_are_through(pool)
    assert (await cursor.waiting(), await cursor.waiting_since()) == (24, NOW)
    assert [await one_step(pool, relay) for relay in relays[1:]] == [3] * 7
    assert (await cursor.waiting(), (await cursor.positions())[0]) == (3, START)
    assert await one_step(pool, relays[0]) == 3
    assert (await cursor.waiting(), await cursor.waiting_since()) == (0, None)
    assert broker.ids == [f"{member}:GRP:{seq}" for member in (*MEMBERS[1:], FIRST) for seq in (1, 2, 3)]

    assert await cursor.positions() == [Position("3", member, "GRP", 3) for member in MEMBERS]
    await cursor.rewind(NOW + timedelta(minutes=90))
    assert (await cursor.waiting(), await cursor.waiting_since()) == (8, NOW + timedelta(hours=2))
    with pytest.raises(Refused, match="nothing was posted since"):
        await cursor.rewind(NOW + timedelta(hours=3))
    await cursor.rewind(None)
    assert await cursor.positions() == [START] * 8
    assert sum([await one_step(pool, relay) for relay in relays]) == 24


async def test_writers_of_a_slice_take_turns(pool: Pool, ledger: PostgresLedger) -> None:
    """So what commits later stands later, and a relay never finds a transfer before its cursor."""
    relay = transfer_relay(pool, broker := Broker(), TOPIC, CLOCK, WorkerHealth("relay"), schema="slice_0")
    async with pool.acquire(schema="slice_0") as connection, connection.transaction():
        locked = await lock_accounts(connection, await begin_posting(connection), [(FIRST, "OVO")])
        posting = asyncio.create_task(ledger.post([gift(FIRST, "k")]))
        await ledger.post([gift(SECOND, "other")])
        assert not posting.done(), "another slice waits for nobody"
        await connection.execute(_LATE, FIRST, locked.turn.place)
        assert await one_step(pool, relay) == 0
    await posting
    assert await one_step(pool, relay) == 2
    assert broker.ids == [f"{FIRST}:OVO:1", f"{FIRST}:GRP:1"]


async def test_a_slice_refuses_the_members_of_others(pool: Pool) -> None:
    insert = "insert into account (member_id, program, country) values ($1, 'GRP', 'SG')"
    async with pool.acquire(schema="slice_1") as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="a member of another slice is no member of slice_1"):
            await connection.execute(insert, FIRST)
        await connection.execute(insert, SECOND)


async def test_a_session_is_led_and_led_back(url: str, pool: Pool) -> None:
    where = "select current_schema()"
    for keeps_nothing in (True, False):
        one = await open_pool(url, size=1, keeps_nothing=keeps_nothing)
        try:
            for schema in ("slice_3", "slice_3", None, "slice_5", None):
                async with one.acquire(schema=schema) as connection:
                    assert await connection.fetchval(where) == (schema or "public")
            async with one.acquire(schema="slice_7") as connection:
                assert await connection.fetchval(where) == "slice_7"
            assert await one.fetchval(where) == "public"
        finally:
            await one.close()


async def test_who_cannot_be_led_is_given_back(url: str) -> None:
    one = await open_pool(url, size=1, keeps_nothing=True)
    try:
        with pytest.raises(asyncpg.PostgresError):
            async with one.acquire(schema="not a name"):
                pytest.fail("it was led nowhere")
        assert await one.fetchval("select current_schema()", timeout=5) == "public"
    finally:
        await one.close()


@pytest.mark.parametrize("table", CUT)
async def test_nobody_writes_to_all_slices(pool: Pool, owner: Connection, table: str) -> None:
    await pool.fetch(f"select * from {table}")
    writing = ("insert into {0} select * from {0}", "delete from {0}", "truncate {0}", "update {0} set member_id = ''")
    for connection in (pool, owner):
        for statement in writing:
            with pytest.raises(asyncpg.PostgresError, match=r"cannot|is not a table"):
                await connection.execute(statement.format(table))


def test_nobody_locks_rows_of_all_slices() -> None:
    """`for update` of a view over slices locks nothing, without a word. Who locks goes by slice."""
    locks = re.compile(rf"(from|join) ({'|'.join(CUT)})\b[^\"]*for (no key )?(update|share)", re.DOTALL)
    root = Path(abacus.__file__).parent
    locking = {str(path.relative_to(root)) for path in root.rglob("*.py") if locks.search(path.read_text())}
    assert locking == {
        *("engage/actions/action_store.py", "engage/journeys/late_rows.py"),
        *("engage/journeys/party_rows.py", "engage/journeys/seat_rows.py"),
        *("engage/notify/notifications.py",),
        *("engage/offers/gifts.py", "engage/offers/invitations.py", "engage/offers/reservation_rows.py"),
        *("intake/partners/webhooks/outbox.py", "intake/partners/webhooks/store.py"),
        *("ledger/store/rows.py", "oversight/erasure/ledger.py", "signals/places/visit_rows.py"),
    }


@pytest.mark.usefixtures("pool")
async def test_the_tables_of_slices_are_alike(owner: Connection) -> None:
    first = await tables_like(owner, 0)
    assert len(first) == len(CUT) + len(OF_A_SLICE) + 1
    for number in range(1, 8):
        assert await tables_like(owner, number) == first


async def test_an_empty_ledger_is_cut_once(url: str) -> None:
    assert not await cut(url, 1)
    assert await cut(url, 3)
    assert not await cut(url, 3)
    for other in (1, 2, 8):
        with pytest.raises(Refused, match="cut into 3 slices, and their number never changes"):
            await cut(url, other)


async def test_a_ledger_in_use_is_not_cut(url: str, owner: Connection) -> None:
    whole = await open_pool(url, size=1)
    try:
        await PostgresLedger(whole, CLOCK).post([gift(FIRST, "k")])
        assert await slice_map_of(whole) == SliceMap(1)
    finally:
        await whole.close()
    with pytest.raises(Refused, match="the table account has rows; only an empty ledger can be cut"):
        await cut(url, 8)
    assert await owner.fetchval("select count(*) from key_slice") == 0, "nobody enters keys where nothing is cut"


TAMPERED: Final = {
    "insert into slice_2.claim select * from slice_0.claim; delete from slice_0.claim": (
        f"{FIRST}  #0: rows of claim lie in slice 2, and the member belongs to 0"
    ),
    "insert into slice_2.transfer select * from slice_0.transfer; delete from slice_0.transfer": (
        f"{FIRST}  #0: rows of transfer lie in slice 2, and the member belongs to 0"
    ),
    "delete from key_slice where key = 'k'": (
        f"{FIRST} GRP #1: its key k is not in the register of keys as one of slice 0"
    ),
    "update key_slice set slice = 3 where key = 'k'": (
        f"{FIRST} GRP #1: its key k is not in the register of keys as one of slice 0"
    ),
}


@pytest.mark.parametrize("statements", TAMPERED)
async def test_verify_finds_what_lies_elsewhere(
    pool: Pool, owner: Connection, ledger: PostgresLedger, statements: str
) -> None:
    await ledger.post([gift(FIRST, "k"), gift(SECOND, "l")])
    await owner.execute(f"set session_replication_role = replica; {statements}")
    assert TAMPERED[statements] in map(str, (await verify(pool, lambda _: None)).faults)


async def test_the_command(url: str) -> None:
    env = {"ABACUS_DATABASE_URL": url}
    cut_now = await abacus_command("migrate", "--slices", "3", env=env)
    assert cut_now.code == 0
    assert "the ledger is cut into 3 slices" in cut_now.out
    again = await abacus_command("migrate", "--slices", "3", "--json", env=env)
    assert (again.code, again.json["slices"]) == (0, 3)
    other = await abacus_command("migrate", "--slices", "4", env=env)
    assert other.code == 2
    assert "cut into 3 slices, and their number never changes" in other.err
    assert (await abacus_command("migrate", "--slices", "65", env=env)).code == 2


async def test_two_who_cut_at_once(url: str) -> None:
    assert sorted(await asyncio.gather(cut(url, 4), cut(url, 4))) == [False, True]


@pytest.mark.long
@pytest.mark.night
async def test_as_many_slices_as_there_can_be(url: str) -> None:
    await cut(url, MOST)
    opened = await open_pool(url, size=2)
    try:
        await PostgresLedger(opened, CLOCK).post([gift(f"m{number}", f"k{number}") for number in range(200)])
        assert await opened.fetchval("select sum(balance) from account") == 2000
        assert (await verify(opened, lambda _: None)).clean
    finally:
        await opened.close()
