"""Erasing while others post and publish: nothing is published twice or under two names, and locks have one order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.store.post import PostgresLedger
from abacus.oversight.erasure.decide.pseudonym import Pseudonym
from abacus.oversight.erasure.erase import Eraser
from abacus.oversight.erasure.ledger import Head
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Connection, Pool
from tests.oversight.erasure.erasing import BOB, erase, is_clean
from tests.support.forgetting import CLOCK, accounts, granted, live, naming
from tests.support.points_broker import TOPIC, Broker, Relays, publish_all
from tests.support.slices import home_of, neighbour
from tests.support.waiting import waiting


async def test_what_was_published_is_not_published_again(
    pool: Pool, owner: Pool, relay: Relays, broker: Broker
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


async def test_what_is_not_published_yet_comes_first(pool: Pool, owner: Pool, relay: Relays, broker: Broker) -> None:
    ledger = PostgresLedger(pool, CLOCK)
    adam, zoe = neighbour("adam"), neighbour("zoe")
    names = (adam, "bob", zoe)
    await ledger.post([granted(f"txn:rides:{name}", member_id=name) for name in names])
    await publish_all(relay, pool)
    await ledger.post([granted(f"txn:meals:{name}", member_id=name) for name in names])
    with pytest.raises(Unavailable, match="not published all of the member's transfers"):
        await erase(owner, "bob")
    async with pool.acquire(schema=await home_of(pool, "bob")) as connection:
        await connection.execute(
            "update relay_cursor set member_id = 'bob', program = 'GRP', seq = 2, xid = (select max(xid) from transfer)"
        )
    with pytest.raises(Unavailable, match="is at a transaction in which the member has transfers"):
        await erase(owner, "bob")
    assert await publish_all(relay, pool) == 1
    await erase(owner, "bob")
    assert await publish_all(relay, pool) == 0
    assert broker.ids == [f"{adam}:GRP:1", "bob:GRP:1", f"{zoe}:GRP:1", f"{zoe}:GRP:2"]


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


async def test_erased_while_the_relay_looks_where_it_is(pool: Pool, owner: Pool, relay: Relays, broker: Broker) -> None:
    await PostgresLedger(pool, CLOCK).post([granted("txn:rides:1", member_id="bob")])
    await publish_all(relay, pool)
    looking = transfer_relay(pool, broker, TOPIC, CLOCK, WorkerHealth("relay"), schema=await home_of(pool, "bob"))
    async with pool.acquire() as connection:
        assert await looking.step(Interrupted(connection, lambda: erase(owner, "bob"))) == 0
    assert await publish_all(relay, pool) == 0
    assert broker.ids == ["bob:GRP:1"]


async def test_before_any_relay_has_run_all_is_published_under_the_pseudonym(
    pool: Pool, owner: Pool, relay: Relays, broker: Broker
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
    """Each posting lands under a pseudonym or in an account opened later; every key once, every point somewhere."""
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


@pytest.mark.long
@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("select from account where member_id = $1 for update", "update allowance_member set used = used"),
        (
            "select from expiry_batch where month = '2026-10b' and body like '%' || $1 || '%' for update",
            "select from account order by member_id for update",
        ),
    ],
    ids=["posting", "expiring"],
)
async def test_locks_are_taken_in_the_order_of_others(pool: Pool, owner: Pool, first: str, then: str) -> None:
    await live(pool, BOB)
    async with pool.acquire(schema=await home_of(pool, BOB)) as other:
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
    told: list[tuple[Pseudonym, list[Head], int]] = []

    async def keep(connection: Connection, renaming: Pseudonym, heads: Sequence[Head]) -> None:
        count = await connection.fetchval("select count(*) from account where member_id = $1", renaming.member_id)
        told.append((renaming, list(heads), count))

    job = Eraser(owner, CLOCK, lambda _: None, before_renaming=[keep])
    erased = await job.erase(BOB, by="alice", reason="asked to")
    ((renaming, heads, count),) = told
    assert renaming == Pseudonym(BOB, erased.pseudonym)
    assert [(head.program, head.hash) for head in heads] == [(each.program, each.head_hash) for each in before]
    assert count == len(before)
