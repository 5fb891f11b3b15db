"""A member is taken out of everything, and the ledger can be proved as before; nobody else is touched."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import pytest

import abacus.engage.notify.tables
import abacus.intake.partners.tables
import abacus.ledger.store.tables
import abacus.oversight.erasure.tables
import abacus.platform.quarantine.tables
import abacus.pricing.store.tables
import abacus.programs.expiry.tables
import abacus.programs.tiers.tables  # noqa: F401  # importing a room's tables registers them
from abacus.core.errors import Refused, Unavailable
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.posting import Status
from abacus.oversight.erasure import ledger as ledger_of
from abacus.oversight.erasure.decide.renaming import Renaming
from abacus.oversight.erasure.erase import Eraser, erasures
from abacus.oversight.erasure.inventory import NAMELESS, TREATED
from abacus.oversight.erasure.ledger import Head
from abacus.platform.following.leading import Leading
from abacus.platform.health import WorkerHealth
from abacus.platform.metadata import METADATA
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.proof.erased_leaves import keep_leaves
from abacus.proof.parts import Span
from abacus.proof.store import Seals
from abacus.proof.verify import verify
from tests.support.forgetting import CLOCK, accounts, eraser, granted, live, naming, rest
from tests.support.points_broker import TOPIC, Broker, publish_all
from tests.support.waiting import waiting

BOB, ANNA = "bob@home", "anna"
POSTED, DUPLICATE = Status.POSTED, Status.DUPLICATE


@pytest.fixture
async def owner(database_url: str) -> AsyncIterator[Pool]:
    """Connections as the login that ran the migrations."""
    opened = await open_pool(database_url, size=4, role=None)
    yield opened
    await opened.close()


@pytest.fixture
def broker() -> Broker:
    return Broker()


@pytest.fixture
def relay(pool: Pool, broker: Broker) -> Leading:
    return transfer_relay(pool, broker, TOPIC, CLOCK, WorkerHealth("relay"))


async def is_clean(pool: Pool) -> bool:
    return (await verify(pool, lambda _: None)).clean


async def erase(owner: Pool, member: str = BOB) -> str:
    return (await eraser(owner).erase(member, by="alice", reason="asked to")).pseudonym


async def test_the_id_is_nowhere_and_every_sum_is_as_it_was(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    await live(pool, ANNA)
    before, everything, others = await accounts(pool, BOB), await rest(owner), await rest(owner, BOB)
    assert len(await naming(owner, BOB)) > 15

    looked = await eraser(owner).look(BOB)
    assert await rest(owner) == everything

    erased = await eraser(owner).erase(BOB, by="alice", reason="asked to")
    assert looked.rows == erased.rows
    assert await naming(owner, BOB) == []
    after = await accounts(pool, erased.pseudonym)
    assert [each._replace(member_id=BOB, head_hash=b"") for each in after] == [
        each._replace(head_hash=b"") for each in before
    ]
    assert await is_clean(pool)
    assert await verify_member(pool, erased.pseudonym) == 8
    assert erased.accounts == [
        {
            "program": old.program,
            "transfers": old.last_seq,
            "balance": old.balance,
            "head_before": old.head_hash.hex(),
            "head_after": new.head_hash.hex(),
        }
        for old, new in zip(before, after, strict=True)
    ]
    assert await erasures(pool, 10) == [erased]
    there = await rest(owner, erased.pseudonym)
    for table, rows in others.items():
        assert set(rows) <= set(there[table]), table
    assert len(there["notice"]) == len(there["notification_preference"]) == 1


async def test_old_seals_hold_under_new_names(pool: Pool, owner: Pool) -> None:
    """Three live, are sealed, move on and are sealed again; two are erased, one after the other."""

    async def keep(connection: Connection, renaming: Renaming, _: Sequence[Head]) -> None:
        await keep_leaves(connection, *renaming)

    seals = Seals(pool, CLOCK)
    for name in (ANNA, BOB, "zoe"):
        await live(pool, name)
        await seals.make()
    kept = Eraser(owner, CLOCK, lambda _: None, before_renaming=[keep])
    for last, name in ((3, BOB), (4, ANNA)):
        await kept.erase(name, by="alice", reason="asked to")
        report = await verify(pool, lambda _: None, seals=None)
        assert [str(fault) for fault in report.faults] == []
        assert sorted(report.seals) == list(range(1, last + 1))
        await seals.make()
        assert (await verify(pool, lambda _: None, seals=None)).clean
    with pytest.raises(Refused, match="had no transfer yet at seal 1"):
        await seals.prove(("zoe", "GRP"), 1)
    assert (await seals.prove(("zoe", "GRP"), 3)).member_id == "zoe"


async def verify_member(pool: Pool, member: str) -> int:
    report = await verify(pool, lambda _: None, span=Span(member, member))
    assert report.clean
    return report.transfers


async def test_what_was_set_aside_about_others_stays(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    pseudonym = await erase(owner)
    store = QuarantineStore(pool, CLOCK)
    left = {(each.item.id, each.item.body.decode(), each.item.detail) for each in await store.list()}
    assert {(body, detail) for _, body, detail in left} == {
        ('{"v":1,"awards":[{"member_id":"somebody"}]}', f"member_id: not '{pseudonym}'"),
        ('{"member_id":"somebody","amount":"?"}', f"member_id: not '{pseudonym}'"),
    }
    for id_, *_ in left:
        assert await store.get(id_) is not None, "found under the id that its body has"


def test_every_table_has_its_treatment() -> None:
    declared = [TREATED, NAMELESS, ledger_of.TABLES]
    assert set(METADATA.tables) == set().union(*declared)
    assert sum(map(len, declared)) == len(METADATA.tables), "each in one place"


async def test_a_delivery_of_before_is_a_duplicate_and_a_new_one_opens_a_new_account(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    pseudonym = await erase(owner)
    again = [granted("txn:rides:b1", member_id=BOB), granted("api:acme:b2", 101, member_id=BOB)]
    outcomes = await PostgresLedger(pool, CLOCK).post([*again, granted("txn:rides:new", member_id=BOB)])
    assert [outcome.status for outcome in outcomes] == [DUPLICATE, Status.REJECTED, POSTED]
    assert [account.balance for account in await accounts(pool, BOB)] == [10]
    assert [account.balance for account in await accounts(pool, pseudonym)] == [503, 10]
    assert await is_clean(pool)
    assert await erase(owner) != pseudonym
    assert await naming(owner, BOB) == []
    assert await is_clean(pool)


SAYS_WHOM = "select set_config('abacus.erasing', $1, false)"
PSEUDONYM = "erased-" + "0" * 32


@pytest.mark.parametrize("table", ["transfer", "claim", "rejection"])
async def test_the_applications_role_has_no_way_in(pool: Pool, table: str) -> None:
    await live(pool, BOB)
    async with pool.acquire() as connection:
        await connection.execute(SAYS_WHOM, BOB)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(f"update {table} set member_id = $1", PSEUDONYM)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("insert into erasure values ($1, now(), 'alice', 'asked', '[]', '{}')", PSEUDONYM)


async def test_a_role_that_may_update_and_does_not_own_has_no_way_in(pool: Pool, owner: Pool) -> None:
    """As if somebody had granted too much."""
    await live(pool, BOB)
    await owner.execute("grant update on transfer to abacus_app")
    async with pool.acquire() as connection:
        await connection.execute(SAYS_WHOM, BOB)
        with pytest.raises(asyncpg.RestrictViolationError, match="append-only: UPDATE refused"):
            await connection.execute("update transfer set member_id = $1 where member_id = $2", PSEUDONYM, BOB)


@pytest.mark.parametrize(
    ("erasing", "statement"),
    [
        (BOB, "update transfer set member_id = '{name}', points = points + 1 where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}', balance_after = 0 where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}', xid = '9' where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}', key = 'txn:x' where member_id = '{bob}' and seq = 2"),
        (BOB, "update transfer set points = points where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = 'carol' where member_id = '{bob}'"),
        (BOB, "update transfer set member_id = '{name}' where member_id = 'anna'"),
        (BOB, "update claim set member_id = '{name}', fingerprint = '' where member_id = '{bob}'"),
        (BOB, "update claim set member_id = '{name}', key = key || 'x' where key like 'txn:%'"),
        (BOB, "update rejection set member_id = '{name}', points = 0 where member_id = '{bob}'"),
        (BOB, "update rate_card set published_by = '{name}'"),
        (BOB, "update erasure set reason = ''"),
        (BOB, "delete from transfer where member_id = '{bob}'"),
        (BOB, "truncate claim"),
        ("", "update transfer set member_id = '{name}' where member_id = '{bob}'"),
        ("carol", "update transfer set member_id = '{name}' where member_id = '{bob}'"),
    ],
)
async def test_through_the_door_only_a_name_changes(pool: Pool, owner: Pool, erasing: str, statement: str) -> None:
    await live(pool, BOB)
    await live(pool, ANNA)
    async with owner.acquire() as connection:
        await connection.execute(SAYS_WHOM, erasing)
        with pytest.raises(asyncpg.RestrictViolationError, match="append-only"):
            await connection.execute(statement.format(name=PSEUDONYM, bob=BOB))


async def test_a_chain_that_is_broken_is_not_made_whole(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    await owner.execute(
        "set session_replication_role = replica; update transfer set points = 1 where seq = 2;"
        " set session_replication_role = origin"
    )
    with pytest.raises(Refused, match="do not hold together as they are; first: bob@home GRP #2: "):
        await erase(owner)
    assert await accounts(pool, BOB)


async def test_nothing_is_kept_of_a_stranger(owner: Pool) -> None:
    with pytest.raises(Refused, match="nothing is kept of a member 'stranger'"):
        await erase(owner, "stranger")


async def test_the_workers_login_may_not(pool: Pool) -> None:
    with pytest.raises(Refused, match="'abacus_app' may not erase"):
        await erase(pool)


async def test_what_was_published_is_not_published_again(
    pool: Pool, owner: Pool, relay: Leading, broker: Broker
) -> None:
    """The member's transfers share the last transaction with others', before and after them in its order."""
    ledger = PostgresLedger(pool, CLOCK)
    for round_ in range(3):
        names = ("adam", "bob", "zoe")
        await ledger.post([granted(f"txn:rides:{name}{round_}", member_id=name) for name in names])
    assert await publish_all(relay, pool) == 9
    for name in ("bob", "zoe", "adam"):
        await erase(owner, name)
        assert await publish_all(relay, pool) == 0
    await ledger.post([granted("txn:rides:later", member_id="bob")])
    assert await publish_all(relay, pool) == 1
    assert len(set(broker.ids)) == 10 - 1, "the new account begins at 1 again"
    assert await is_clean(pool)


async def test_what_is_not_published_yet_comes_first(pool: Pool, owner: Pool, relay: Leading, broker: Broker) -> None:
    ledger = PostgresLedger(pool, CLOCK)
    names = ("adam", "bob", "zoe")
    await ledger.post([granted(f"txn:rides:{name}", member_id=name) for name in names])
    await publish_all(relay, pool)
    await ledger.post([granted(f"txn:meals:{name}", member_id=name) for name in names])
    with pytest.raises(Unavailable, match="not published all of the member's transfers"):
        await erase(owner, "bob")
    await pool.execute("update relay_cursor set member_id = 'bob', seq = 2, xid = (select max(xid) from transfer)")
    with pytest.raises(Unavailable, match="is at a transaction in which the member has transfers"):
        await erase(owner, "bob")
    assert await publish_all(relay, pool) == 1
    await erase(owner, "bob")
    assert await publish_all(relay, pool) == 0
    assert broker.ids == ["adam:GRP:1", "bob:GRP:1", "zoe:GRP:1", "zoe:GRP:2"]


class Interrupted:
    """A connection on which something happens before the question that fetches rows."""

    def __init__(self, connection: Connection, meanwhile: Callable[[], Awaitable[object]]) -> None:
        self._connection = connection
        self._meanwhile = meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def fetch(self, *question: Any) -> Any:
        await self._meanwhile()
        return await self._connection.fetch(*question)


async def test_erased_while_the_relay_looks_where_it_is(
    pool: Pool, owner: Pool, relay: Leading, broker: Broker
) -> None:
    await PostgresLedger(pool, CLOCK).post([granted("txn:rides:1", member_id="bob")])
    await publish_all(relay, pool)
    async with pool.acquire() as connection:
        assert await relay.step(Interrupted(connection, lambda: erase(owner, "bob"))) == 0
    assert await publish_all(relay, pool) == 0
    assert broker.ids == ["bob:GRP:1"]


async def test_before_any_relay_has_run_all_is_published_under_the_pseudonym(
    pool: Pool, owner: Pool, relay: Leading, broker: Broker
) -> None:
    await PostgresLedger(pool, CLOCK).post([granted("txn:rides:1", member_id="bob")])
    pseudonym = await erase(owner, "bob")
    assert await publish_all(relay, pool) == 1
    assert broker.ids == [f"{pseudonym}:GRP:1"]


async def test_a_month_end_that_has_just_come_to_the_member(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    await pool.execute("update expiry_run set swept_at = null")
    with pytest.raises(Refused, match="a month's end is under way"):
        await erase(owner)
    assert await accounts(pool, BOB)


async def test_posting_to_the_member_meanwhile(pool: Pool, owner: Pool) -> None:
    """Each posting lands under a pseudonym or in an account of later; every key once, every point somewhere."""
    ledger = PostgresLedger(pool, CLOCK)
    await ledger.post([granted("txn:rides:first", member_id="bob")])
    keys, erased = ["txn:rides:first"], list[str]()

    async def post() -> None:
        while len(keys) <= 120 or len(erased) < 3:
            key = f"txn:rides:{len(keys)}"
            keys.append(key)
            await ledger.post([granted(key, member_id=name) for key, name in ((key, "bob"), (f"{key}x", "carol"))])

    async with asyncio.TaskGroup() as posting:
        posters = [posting.create_task(post()) for _ in range(4)]
        while not all(poster.done() for poster in posters):
            try:
                erased.append(await erase(owner, "bob"))
            except Refused:  # nothing was posted since the last time
                await asyncio.sleep(0)
    assert await is_clean(pool)
    sums = await pool.fetchrow(
        "select sum(points), count(*), count(distinct key) from transfer where key not like '%x'"
    )
    assert tuple(sums) == (10 * len(keys), len(keys), len(keys))
    members = {row[0] for row in await pool.fetch("select distinct member_id from transfer")}
    assert members <= {"bob", "carol", *erased}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("select from account where member_id = $1 for update", "update allowance_member set used = 11"),
        (
            "select from expiry_batch where month = '2026-10b' and body like '%' || $1 || '%' for update",
            "select from account order by member_id for update",
        ),
    ],
    ids=["posting", "expiring"],
)
async def test_locks_are_taken_in_the_order_of_others(pool: Pool, owner: Pool, first: str, then: str) -> None:
    await live(pool, BOB)
    async with pool.acquire() as other:
        async with other.transaction():
            await other.execute(first, BOB)
            erasing = asyncio.create_task(erase(owner))
            await waiting(pool, erasing)
            await other.execute(then)
        await erasing
    assert await naming(owner, BOB) == []
    assert await is_clean(pool)


async def test_who_keeps_hashes_elsewhere_is_told_before_the_accounts_are_renamed(pool: Pool, owner: Pool) -> None:
    await live(pool, BOB)
    before = await accounts(pool, BOB)
    told: list[tuple[Renaming, list[Head], int]] = []

    async def keep(connection: Connection, renaming: Renaming, heads: Sequence[Head]) -> None:
        count = await connection.fetchval("select count(*) from account where member_id = $1", renaming.member_id)
        told.append((renaming, list(heads), count))

    job = Eraser(owner, CLOCK, lambda _: None, before_renaming=[keep])
    erased = await job.erase(BOB, by="alice", reason="asked to")
    ((renaming, heads, count),) = told
    assert renaming == Renaming(BOB, erased.pseudonym)
    assert [(head.program, head.hash) for head in heads] == [(each.program, each.head_hash) for each in before]
    assert count == len(before)


async def test_an_account_of_many_transfers(pool: Pool, owner: Pool) -> None:
    """More than one page of the chain."""
    ledger = PostgresLedger(pool, CLOCK)
    await ledger.post([granted(f"txn:rides:{number}", member_id="bob") for number in range(2500)])
    pseudonym = await erase(owner, "bob")
    assert await verify_member(pool, pseudonym) == 2500
    assert await naming(owner, "bob") == []
