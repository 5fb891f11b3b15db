"""The ledger and the relay of production on Postgres, in a simulation.

A posting is one step there, as it is one transaction on the server; whether postings at the same time wait for each
other as they should is for the tests of the ledger. The relay's calls are steps each, so it may crash, or be refused or
left without an answer, at each of its statements.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Final, cast

import asyncpg

from abacus.core.clock import Clock
from abacus.ledger.relay.cursor import RelayCursor
from abacus.ledger.relay.publish_transfers import transfer_relay
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import ACCOUNT_COLUMNS, TRANSFER_COLUMNS, LedgerReader
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.types.port import AwardOutcome, Claim
from abacus.ledger.types.transfer import Transfer
from abacus.platform.following.row_publisher import Publisher
from abacus.platform.following.together import together
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.platform.slices import SliceMap
from tests.reliability.simulation.bridge import Bridge
from tests.reliability.simulation.ledgers import PARTNER, Books
from tests.reliability.simulation.life import Life
from tests.support.neighbours import neighbours_are_through
from tests.support.slices import SLICES

TOPIC: Final = "points"
_CONNECTIONS: Final = 4 * SLICES

_TABLES: Final = r"""
select format('%I.%I', schemaname, tablename) from pg_tables
where (schemaname = current_schema() or schemaname like 'slice\_%')
    and tablename not in ('alembic_version', 'slice', 'head', 'generation')
"""

# They let nobody empty the ledger. On all servers, where there are several; those truncate by a trigger of their own.
_WITHOUT_TRIGGERS: Final = """
set local citus.propagate_set_commands = local;
set local session_replication_role = replica;
"""


class Server:
    """A database, reached over a bridge."""

    def __init__(self, bridge: Bridge, pool: Pool, database_url: str) -> None:
        self.bridge = bridge
        self.pool = pool
        self._database_url = database_url

    def empty(self) -> None:
        """Empty the database for another run. The application's role may not do that."""
        self.bridge.run(self._empty())

    async def _empty(self) -> None:
        owner = await asyncpg.connect(self._database_url)
        try:
            async with owner.transaction():
                await owner.execute(_WITHOUT_TRIGGERS)
                for (table,) in await owner.fetch(_TABLES):
                    await owner.execute(f"delete from {table}")
        finally:
            await owner.close()


@contextmanager
def serving(database_url: str) -> Iterator[Server]:
    with Bridge() as bridge:
        pool = bridge.run(open_pool(database_url, size=_CONNECTIONS))
        try:
            yield Server(bridge, pool, database_url)
        finally:
            bridge.run(pool.close())


class LedgerOnPostgres:
    """`SimulatedLedger`."""

    def __init__(self, server: Server, clock: Clock) -> None:
        self.server = server
        self.clock = clock
        self._run = server.bridge.run
        self._ledger = PostgresLedger(server.pool, clock)
        self._moves = PostgresMoves(server.pool, clock)
        self._reader = LedgerReader(server.pool)
        self._cursor = RelayCursor(server.pool, TOPIC, clock)
        self._run(server.pool.execute("insert into allowance (partner_id) values ($1) on conflict do nothing", PARTNER))

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        return self._run(self._ledger.post(awards))

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        return self._run(self._moves.move(movements))

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]:
        return self._run(self._reader.claims_in_reach(keys))

    def books(self) -> Books:
        claims = self._all("select key, member_id, program, seq, fingerprint from claim")
        accounts = [Account(*row) for row in self._all(f"select {ACCOUNT_COLUMNS} from account")]
        transfers = self._all(f"select {TRANSFER_COLUMNS} from transfer order by member_id, program, seq")
        return Books(
            {row["key"]: Claim(*row) for row in claims},
            {account.id: account for account in accounts},
            [Transfer(*row) for row in transfers],
        )

    def unpublished(self) -> int:
        self._run(neighbours_are_through(self.server.pool))
        return self._run(self._cursor.waiting())

    def _all(self, query: str) -> list[Any]:
        return self._run(self.server.pool.fetch(query))


class RelayOnPostgres:
    """The relay of production over a connection that a storm can strike."""

    def __init__(self, ledger: LedgerOnPostgres, publisher: Publisher, life: Life, health: WorkerHealth) -> None:
        pool = cast("Pool", _StormyPool(ledger.server, life))
        slice_map = SliceMap(SLICES)
        relays = (
            transfer_relay(pool, publisher, TOPIC, ledger.clock, health, schema=slice_map.schema_of(number))
            for number in range(slice_map.slices)
        )
        self.run = together(*(each.run for each in relays))


class _StormyPool:
    """The part of a pool that a relay uses. The sessions of a process end with it."""

    def __init__(self, server: Server, life: Life) -> None:
        self._server = server
        self._life = life
        self._open: set[Connection] = set()
        life.at_the_end(self._end_sessions)

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator["_StormyConnection"]:
        async with self._life.call("ledger", "relay.connect"):
            pass
        connection = self._server.bridge.run(self._acquire())
        self._open.add(connection)
        try:
            yield _StormyConnection(self._server.bridge, connection, self._life, partial(self._release, connection))
        finally:
            self._release(connection)

    async def nearest(self, _schema: str | None) -> "_StormyPool":
        """Slices are read through the coordinator: one server is enough for a storm."""
        return self

    def _end_sessions(self) -> None:
        for connection in list(self._open):
            self._release(connection)

    def _release(self, connection: Connection) -> None:
        """End the session: an open transaction is rolled back, and locks are let go."""
        if connection in self._open:
            self._open.remove(connection)
            self._server.bridge.run(self._server.pool.release(connection))

    async def _acquire(self) -> Connection:
        return await self._server.pool.led(None, None)


class _StormyConnection:
    """The part of a connection that a relay uses."""

    def __init__(self, bridge: Bridge, connection: Connection, life: Life, end: Callable[[], None]) -> None:
        self._bridge = bridge
        self._connection = connection
        self._life = life
        self._end = end
        self._ended = False

    def is_closed(self) -> bool:
        return self._ended or self._life.over

    def terminate(self) -> None:
        if not self.is_closed():
            self._ended = True
            self._end()

    async def fetch(self, query: str, *values: object) -> list[Any]:
        async with self._life.call("ledger", "relay.read"):
            return self._bridge.run(self._connection.fetch(query, *values))

    async def fetchrow(self, query: str, *values: object) -> Any:
        async with self._life.call("ledger", "relay.read"):
            return self._bridge.run(self._connection.fetchrow(query, *values))

    async def fetchval(self, query: str, *values: object) -> Any:
        async with self._life.call("ledger", "relay.read"):
            return self._bridge.run(self._connection.fetchval(query, *values))

    async def execute(self, query: str, *values: object) -> str:
        async with self._life.call("ledger", "relay.move"):
            return str(self._bridge.run(self._connection.execute(query, *values)))

    @asynccontextmanager
    async def transaction(self, **options: Any) -> AsyncIterator[None]:
        transaction = self._connection.transaction(**options)
        self._bridge.run(transaction.start())
        try:
            yield
        except BaseException:
            if not self.is_closed():  # else the transaction ended with its session
                self._bridge.run(transaction.rollback())
            raise
        self._bridge.run(transaction.commit())
