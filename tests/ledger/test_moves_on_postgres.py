"""Faults that only show when two batches come at once. Each interleaving is forced: nothing here is left to luck."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import asyncpg
import pytest

from abacus.core.errors import RightMissing
from abacus.ledger.metrics import POSTING_RESTARTS
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.rows import Overtaken, in_a_transaction
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Limits, Sums
from abacus.ledger.types.movement import Movement
from abacus.ledger.types.port import Status
from abacus.platform.metrics import total
from abacus.platform.postgres import Connection, Pool, is_duplicate
from abacus.platform.slices import SliceMap, slice_map_of, slices_of
from abacus.proof.verify import verify
from tests.ledger.ledgers import NOW, OpenPostgresLedger, award
from tests.ledger.moves import Orders, adjust, capture, earn, hold, parted, release, reverse, spend
from tests.support.fixed_clock import FixedClock
from tests.support.internal_errors import internal
from tests.support.slices import SLICES, home_of, neighbour, tables_of
from tests.support.stamps import ids_against_seq
from tests.support.waiting import free, waiting

POSTED, DUPLICATE, REFUSED, REJECTED = Status.POSTED, Status.DUPLICATE, Status.REFUSED, Status.REJECTED

A, B, C = map(neighbour, "abc")
JANE: Final = neighbour("jane")
OPEN: Final = "insert into account (member_id, program, country) values ($1, 'GRP', 'SG')"


# In a slice nobody meets another at its accounts.
IN_TURN = pytest.mark.skipif(SLICES > 1, reason="writers of a slice take turns: tests/ledger/slices/test_slices.py")


class OneConnection:
    """A pool that only ever gives this connection: changes in its transaction stay open as long as the transaction."""

    def __init__(self, connection: Connection, slice_map: SliceMap) -> None:
        self._connection = connection
        self.slices = slice_map.slices
        self.fetch, self.fetchval = connection.fetch, connection.fetchval

    @asynccontextmanager
    async def acquire(self, *, schema: str | None = None, near: bool = False) -> AsyncIterator[Connection]:
        await self._connection.lead(schema)
        yield self._connection

    async def nearest(self, _schema: str | None) -> "OneConnection":
        return self


class BobsAccount:
    """Bob's account with 100 points; batches are done on it at once, or while another is left open."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.ledger = OpenPostgresLedger(pool, FixedClock(NOW))
        self.moves = PostgresMoves(pool, FixedClock(NOW))

    async def do(self, orders: Orders) -> list[Status]:
        awards, movements = parted(orders)
        posted, moved = await self.ledger.post(awards), await self.moves.move(movements)
        return [*(each.status for each in posted), *(each.status for each in moved)]

    async def while_open(self, first: Orders, second: Orders) -> list[Status]:
        """The second batch starts when all of the first is done but its commit, and has to wait for that."""
        async with self.pool.acquire() as connection:
            async with connection.transaction():
                await BobsAccount(OneConnection(connection, await slice_map_of(self.pool))).do(first)
                going = asyncio.create_task(self.do(second))
                await waiting(self.pool, going)
            return await going


@pytest.fixture
async def bob(pool: Pool) -> BobsAccount:
    bob = BobsAccount(pool)
    await bob.ledger.post([earn(100)])
    return bob


@asynccontextmanager
async def open_transaction(pool: Pool, statement: str, *values: object) -> AsyncIterator[None]:
    """A block in which the statement is carried out; then it is rolled back."""
    async with pool.acquire() as connection:
        transaction = connection.transaction()
        await connection.lead(await home_of(pool, "bob"))
        await transaction.start()
        try:
            await connection.execute(statement, *values, timeout=5)
            yield
        finally:
            await transaction.rollback()


SECOND: Final[dict[str, tuple[Orders, Movement, Status]]] = {
    "a spend waits for an award": ([earn(5, "k")], spend(105), POSTED),
    "a spend waits for another, and finds less": ([spend(60)], spend(60, "api:acme:2"), REFUSED),
    "a spend that comes twice is done once": ([spend(100)], spend(100), DUPLICATE),
    "a capture waits for a release": ([release()], capture(), REFUSED),
    "a capture that comes twice is done once": ([capture()], capture(), DUPLICATE),
    "a reversal waits for another": ([reverse()], reverse(name="s"), REFUSED),
    "a spend waits for a reversal": ([reverse()], spend(1), REFUSED),
    "an adjustment waits for another of its actor": (
        [adjust(20, "k", member_id=JANE, sums=Sums(actor_day=30))],
        adjust(11, "l", sums=Sums(actor_day=30)),
        REFUSED,
    ),
    "a reversal waits for a spend": ([spend(100)], reverse(part=1), POSTED),
}


@pytest.mark.parametrize("name", SECOND)
async def test_who_comes_second_waits(bob: BobsAccount, name: str) -> None:
    first, second, expected = SECOND[name]
    if isinstance(second, type(capture())):
        await bob.moves.move([hold(60)])
    assert await bob.while_open(first, [second]) == [expected]
    assert await ids_against_seq(bob.pool) == []


async def test_an_award_waits_for_a_spend(bob: BobsAccount) -> None:
    assert await bob.while_open([spend(100)], [earn(5, "k")]) == [POSTED]
    assert await bob.pool.fetchval("select balance from account") == 5


async def test_who_claims_a_key_second_looks_again(bob: BobsAccount) -> None:
    """The key goes to another account, so only the key itself is in the way."""
    to_jane = award(key="k", member_id=JANE)
    assert await bob.while_open([award(key="k")], [to_jane]) == [DUPLICATE]
    assert (await verify(bob.pool, lambda _: None)).clean


class OnAnotherServer:
    """A connection whose COPY fails as one does that Citus passes on to another server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def copy_records_to_table(self, table: str, **given: Any) -> None:
        try:
            await self._connection.copy_records_to_table(table, **given)
        except asyncpg.UniqueViolationError as error:
            raise internal("ReportCopyError") from error


class OtherServer:
    """A pool of such connections."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    @asynccontextmanager
    async def acquire(self, *, schema: str | None = None, near: bool = False) -> AsyncIterator[OnAnotherServer]:
        async with self._pool.acquire(schema=schema, near=near) as connection:
            yield OnAnotherServer(connection)


async def test_who_claims_a_key_second_on_another_server_looks_again(bob: BobsAccount) -> None:
    elsewhere = BobsAccount(OtherServer(bob.pool))
    async with bob.pool.acquire() as connection, connection.transaction():
        await BobsAccount(OneConnection(connection, await slice_map_of(bob.pool))).do([award(key="k")])
        second = asyncio.create_task(elsewhere.do([award(key="k", member_id=JANE)]))
        await waiting(bob.pool, second)
    assert await second == [DUPLICATE]
    assert (await verify(bob.pool, lambda _: None)).clean


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (asyncpg.UniqueViolationError("doppelter Schlüssel"), True),
        (internal("ReportCopyError"), True),
        (internal("ReportCopyError", code="58030"), False),
        (internal("mdread", "duplicate key value violates unique constraint"), False),
        (asyncpg.CheckViolationError("duplicate key value violates unique constraint"), False),
    ],
)
def test_what_is_a_duplicate(error: asyncpg.PostgresError, is_one: bool) -> None:  # noqa: FBT001  # a row's outcome
    assert is_duplicate(error) is is_one


async def test_what_another_server_never_takes_is_raised_in_the_end(bob: BobsAccount) -> None:
    """Citus does not say that it is no duplicate, and nobody looks again for ever."""
    tried = 0

    async def work(_: Connection) -> None:
        nonlocal tried
        tried += 1
        raise Overtaken from internal("ReportCopyError", "new row violates check constraint")

    with pytest.raises(asyncpg.InternalServerError, match="check constraint"):
        await in_a_transaction((await slices_of(bob.pool))[0].within, work)
    assert tried == 8


async def test_who_opens_an_account_second_looks_again(bob: BobsAccount) -> None:
    first, second = award(key="k", member_id=JANE), award(key="l", member_id=JANE)
    assert await bob.while_open([first], [second]) == [POSTED]
    assert (await verify(bob.pool, lambda _: None)).clean


@pytest.mark.parametrize("members", [[A, B, C], [C, B, A]], ids=["a b c", "c b a"])
async def test_accounts_are_locked_in_order(bob: BobsAccount, members: list[str]) -> None:
    """However they were opened and come in the batch: while b is held, a is locked already and c is not."""
    for member in members:
        await bob.ledger.post([award(key=f"opens {member}", member_id=member)])
    batch = [award(key=member, member_id=member) for member in members]
    async with open_transaction(bob.pool, f"select from account where member_id = '{B}' for update"):
        posting = asyncio.create_task(bob.do(batch))
        await waiting(bob.pool, posting)
        async with bob.pool.acquire(schema=await home_of(bob.pool, "bob")) as connection, connection.transaction():
            assert await free(connection, "account", "member_id") == {"bob", C}
    assert await posting == [POSTED] * 3


async def test_accounts_are_locked_in_order_to_move_points(bob: BobsAccount) -> None:
    for member in (C, B, A):
        await bob.ledger.post([award(key=f"opens {member}", member_id=member)])
    async with open_transaction(bob.pool, f"select from account where member_id = '{B}' for update"):
        moving = asyncio.create_task(bob.do([spend(1, f"api:acme:{each}", each) for each in (C, B, A)]))
        await waiting(bob.pool, moving)
        async with bob.pool.acquire(schema=await home_of(bob.pool, "bob")) as connection, connection.transaction():
            assert await free(connection, "account", "member_id") == {"bob", C}
    assert await moving == [POSTED] * 3


async def test_accounts_are_opened_in_order(bob: BobsAccount) -> None:
    """Another transaction is opening b, so c is not opened yet."""
    async with open_transaction(bob.pool, OPEN, B):
        posting = asyncio.create_task(bob.do([award(key=each, member_id=each) for each in (C, B, A)]))
        await waiting(bob.pool, posting)
        async with open_transaction(bob.pool, OPEN, C):
            pass
    assert await posting == [POSTED] * 3


async def test_partners_are_locked_in_order(bob: BobsAccount) -> None:
    for partner in ("cats", "bits", "acme"):
        await bob.ledger.allow(partner, Limits())
    batch = [award(key=f"api:{partner}:1", activity=False) for partner in ("cats", "bits", "acme")]
    async with open_transaction(bob.pool, "select from allowance where partner_id = 'bits' for update"):
        posting = asyncio.create_task(bob.do(batch))
        await waiting(bob.pool, posting)
        async with bob.pool.acquire() as connection, connection.transaction():
            assert await free(connection, "allowance", "partner_id") == {"cats"}
    assert await posting == [POSTED] * 3


async def test_an_adjustment_locks_its_partner_before_the_account(bob: BobsAccount) -> None:
    """As posting does: so the two cannot wait for each other."""
    await bob.ledger.allow("acme", Limits(in_total=10))
    async with open_transaction(bob.pool, "select from allowance where partner_id = 'acme' for update"):
        moving = asyncio.create_task(bob.do([adjust(10, source="partner:acme")]))
        await waiting(bob.pool, moving)
        async with bob.pool.acquire(schema=await home_of(bob.pool, "bob")) as connection, connection.transaction():
            assert await free(connection, "account", "member_id") == {"bob"}
    assert await moving == [POSTED]


GIFT: Final = award(key="api:acme:1", points=10, activity=False)


@pytest.mark.parametrize(
    ("second", "expected"),
    [(GIFT, DUPLICATE), (GIFT._replace(key="api:acme:2", member_id=JANE), REJECTED)],
    ids=["the same again", "another, to another member"],
)
async def test_who_spends_a_budget_second_finds_it_spent(bob: BobsAccount, second: Award, expected: Status) -> None:
    await bob.ledger.allow("acme", Limits(in_total=10))
    assert await bob.while_open([GIFT], [second]) == [expected]
    assert (await bob.ledger.allowance("acme")).used == 10


MEMBERS: Final = (A, B, C)
AWARDS: Final = [award(key=member, member_id=member) for member in MEMBERS]
SPENDS: Final = [spend(1, f"api:acme:{member}", member) for member in MEMBERS]
# How many different stamps the two last transfers of c have.
_STAMPS_OF_C: Final = f"""
select count(distinct xid) from (select xid from transfer where member_id = '{C}' order by seq desc limit 2) as last
"""
_ACCOUNTS_BEHIND: Final = """
select count(*) from account a join transfer t using (member_id, program) where a.last_xid < t.xid
"""
LATER: Final[dict[str, tuple[Orders, Orders]]] = {
    "an award after an award": (AWARDS, [award(key="later", member_id=C)]),
    "an award after a spend": (AWARDS, [spend(2, "api:acme:later", C)]),
    "a spend after an award": (SPENDS, [award(key="later", member_id=C)]),
    "a spend after a spend": (SPENDS, [spend(2, "api:acme:later", C)]),
}


@IN_TURN
@pytest.mark.parametrize("name", LATER)
async def test_a_batch_that_waited_past_a_later_id_takes_over_its_stamp(bob: BobsAccount, name: str) -> None:
    """The batch has its id from locking a, and waits for b; meanwhile another changes c under a later id."""
    restarts = total(POSTING_RESTARTS)
    early, later = LATER[name]
    await bob.ledger.post([award(key=f"opens {member}", member_id=member) for member in MEMBERS])
    async with open_transaction(bob.pool, f"select from account where member_id = '{B}' for update"):
        going = asyncio.create_task(bob.do(early))
        await waiting(bob.pool, going)
        assert await bob.do(later) == [POSTED]
    assert await going == [POSTED] * 3
    assert await ids_against_seq(bob.pool) == []
    assert total(POSTING_RESTARTS) == restarts
    assert await bob.pool.fetchval(_STAMPS_OF_C) == 1
    assert await bob.pool.fetchval(_ACCOUNTS_BEHIND) == 0
    assert (await verify(bob.pool, lambda _: None)).clean


async def test_a_batch_that_waited_while_an_account_was_opened_takes_over_its_stamp(bob: BobsAccount) -> None:
    """The batch has its id from one partner's lock, and waits for another's; meanwhile c is opened under a later id."""
    for partner in ("acme", "bits"):
        await bob.ledger.allow(partner, Limits())
    gifts = [award(key=f"api:{partner}:1", member_id=C, activity=False) for partner in ("acme", "bits")]
    async with open_transaction(bob.pool, "select from allowance where partner_id = 'bits' for update"):
        going = asyncio.create_task(bob.do(gifts))
        await waiting(bob.pool, going)
        assert await BobsAccount(bob.pool).do([award(key="later", member_id=C)]) == [POSTED]  # another process
    assert await going == [POSTED] * 2
    assert await ids_against_seq(bob.pool) == []


@IN_TURN
async def test_accounts_are_opened_before_others_are_updated(bob: BobsAccount) -> None:
    """One batch opens 1 and a; the other opens 0 and 1 and changes a, which was opened after the first had looked.
    Had the other changed a before opening, each would now wait for the other.
    """
    zero, one = map(neighbour, "01")
    opens = [award(key="k1", member_id=one), award(key="k2", member_id=A)]
    changes = [award(key=f"k{place}", member_id=member) for place, member in ((3, zero), (4, one), (5, A))]
    claim = "insert into claim values ('k2', '', '', 0, '')"
    async with open_transaction(bob.pool, OPEN, zero):
        async with open_transaction(bob.pool, claim):
            opening = asyncio.create_task(bob.do(opens))
            await waiting(bob.pool, opening)
            await bob.ledger.post([award(key="k0", member_id=A)])
            changing = asyncio.create_task(bob.do(changes))
            await waiting(bob.pool, opening, changing)
        await waiting(bob.pool, opening, changing)
    assert await opening == [POSTED] * 2
    assert await changing == [POSTED] * 3
    assert (await verify(bob.pool, lambda _: None)).clean


@pytest.mark.long
async def test_work_that_is_overtaken_again_and_again_is_never_given_back(pool: Pool) -> None:
    ids: list[int] = []
    restarts = total(POSTING_RESTARTS)

    async def overtaken(connection: Connection) -> int:
        ids.append(await connection.fetchval("select pg_current_xact_id()::text::bigint"))
        if len(ids) <= 30:
            raise Overtaken
        return len(ids)

    assert await in_a_transaction((await slices_of(pool))[0].within, overtaken) == 31
    assert ids == sorted(set(ids))
    assert total(POSTING_RESTARTS) == restarts + 30


async def test_a_round_is_written_whole_or_not_at_all(bob: BobsAccount, database_url: str) -> None:
    """The hold is written last; when it cannot be written, the rows before it are rolled back."""
    owner = await asyncpg.connect(database_url)
    await owner.execute(f"revoke insert on {tables_of('hold')} from abacus_app")
    await owner.close()
    before = await bob.ledger.contents()
    with pytest.raises(RightMissing):
        await bob.moves.move([spend(1), hold(60)])
    assert await bob.ledger.contents() == before
    assert await bob.do([earn(5, "k")]) == [POSTED]
