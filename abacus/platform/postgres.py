"""Connections to Postgres, and the meaning of its failures for the caller.

Everything reads and writes through asyncpg with the SQL in sight, and the migrations make the tables: docs/adr/0002.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeAlias

import asyncpg

from abacus.core.errors import Refused, RightMissing, Unavailable
from abacus.platform.pool.citus_errors import is_refused_copy, passes, place_of
from abacus.platform.pool.led_connection import LedConnection
from abacus.platform.pool.sliced_pool import LOOK_EVERY_S, NOTHING_NOTED, Noted, SlicedPool
from abacus.platform.roles import APPLICATION_ROLE

DEPENDENCY: Final = "database"
_PING_WITHIN_S: Final = 2.0
LONG_S: Final = 3600.0  # for a statement that reads the whole ledger

# Settings of a connection that only looks rows up by key: they keep a planner whose statistics lag behind a growing
# table from scanning it (`open_pool(..., settings=LOOKUPS_BY_KEY)`). What is left to plan does not depend on the
# values, so a statement is planned once: to plan it for each call took Postgres longer than to run it for a few rows. A
# plan that has to scan looks so costly then that Postgres would compile it, for longer than it runs.
LOOKUPS_BY_KEY: Final[Mapping[str, str]] = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}

# The same for statements that Citus cannot plan without their values: inserts of many rows.
LOOKUPS_BY_VALUES: Final[Mapping[str, str]] = {**LOOKUPS_BY_KEY, "plan_cache_mode": "auto"}

# Citus else asks of each table in the catalog whether to hide it, each time that asyncpg learns a type: for a second.
_HIDE_NOTHING: Final = {"citus.override_table_visibility": "off"}

# What a statement holds is free soon after its caller has left: asyncpg cannot tell a server that is silent.
_NOTICES_WHO_LEFT: Final = {"client_connection_check_interval": "1s"}

# Behind it a `set local` holds on each server that the transaction reaches: Citus passes on no call of a function.
SET_ON_ALL_SERVERS: Final = "set local citus.propagate_set_commands = 'local'"

# For sums over the whole ledger.
_SUM_PLANS: Final = (
    f"{SET_ON_ALL_SERVERS}; set local work_mem = '64MB'; set local hash_mem_multiplier = 1; set local jit = off"
)

_STATEMENT_S: Final = 60.0
_PAGE: Final = 2000

# SQLSTATE classes and codes that say nothing about the data: the server is away, full, shutting down, read-only, not
# migrated yet, or chose us as the victim of a deadlock. The work in hand is good and will pass later.
_PASSING: Final = ("08", "53", "57", "58", "28", "40", "25006", "3D000", "42P01", "42883", "42703", "55P03")

_NOT_MIGRATED: Final = ("42P01", "42703", "42883")

# Nobody grants a right while a worker waits for it. `abacus migrate` makes the rights of the application's role.
_GRANTED: Final = (
    "run `abacus migrate` as the tables' owner, and see that this login has the role (docs/operate/deploy.md)"
)

# What Postgres, or asyncpg on its behalf, raises when a value cannot be stored: these are about the data.
REFUSED_VALUES: Final = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError, ValueError)

Pool: TypeAlias = asyncpg.Pool
Connection: TypeAlias = asyncpg.Connection

# What belongs to a change and is written in its transaction, such as an entry of the log.
Also: TypeAlias = Callable[[Connection], Awaitable[None]]


async def nothing_else(_: Connection) -> None:
    """`Also`, where nothing more belongs to the change."""


def together(*several: Also) -> Also:
    """All that belongs to a change."""

    async def also(connection: Connection) -> None:
        for each in several:
            await each(connection)

    return also


async def open_pool(
    database_url: str,
    *,
    size: int,
    role: str | None = APPLICATION_ROLE,
    settings: Mapping[str, str] | None = None,
    keeps_nothing: bool = False,
    within_s: float | None = None,
    beside: int | None = None,
    noted: Noted = NOTHING_NOTED,
    look_every_s: float = LOOK_EVERY_S,
) -> Pool:
    """A pool whose sessions act as the application's role, which may not change or delete rows of the ledger.

    A pool that `keeps_nothing` in its sessions, no lock and no setting beyond a transaction, saves a round trip each
    time that a connection is returned. `within_s` limits each wait for a connection, and each statement: for callers
    that report an absent database rather than wait for it. For `beside`, `noted` and `look_every_s` see
    `SlicedPool`.

    Raises `Unavailable` when the server cannot be reached or is not migrated yet (the role is made by a migration).
    """
    session = {"application_name": "abacus", "timezone": "UTC", **_HIDE_NOTHING, **_NOTICES_WHO_LEFT}
    session |= settings or {}
    if role is not None:
        session["role"] = role
    try:
        async with passing_failures():
            pool = SlicedPool(
                database_url,
                min_size=1,
                max_size=size,
                max_queries=50_000,
                max_inactive_connection_lifetime=300.0,
                loop=None,
                connection_class=LedConnection,
                record_class=asyncpg.Record,
                timeout=5,
                command_timeout=within_s or _STATEMENT_S,
                server_settings=session,
                init=_json_as_bytes,
                reset=_as_it_is if keeps_nothing else None,
                within_s=within_s,
                beside=beside,
                noted=noted,
                look_every_s=look_every_s,
            )
            return await pool
    except asyncpg.InvalidParameterValueError as error:
        raise Unavailable(DEPENDENCY, f"{_one_line(error)}; run `abacus migrate`") from error
    except ValueError as error:  # asyncpg cannot make sense of the address
        raise Refused(f"ABACUS_DATABASE_URL: {_one_line(error)}") from error


@asynccontextmanager
async def open_connection(database_url: str) -> AsyncIterator[Connection]:
    """One connection of its own, as the application's role: for what a session has to keep, such as listening."""
    session = {"application_name": "abacus announcements", "timezone": "UTC", "role": APPLICATION_ROLE}
    connection = await asyncpg.connect(database_url, timeout=5, server_settings=session)
    try:
        yield connection
    finally:
        connection.terminate()  # there is nothing to say goodbye for, and a silent server would keep it waiting


async def _as_it_is(_: Connection) -> None:
    """Nothing to put back."""


async def _json_as_bytes(connection: Connection) -> None:
    """Explanations travel as the bytes they were written in."""
    with connection.listening():
        await connection.set_type_codec("json", schema="pg_catalog", encoder=bytes, decoder=bytes, format="binary")


async def rows_changed(through: Pool | Connection, statement: tuple[Any, ...], *, within_s: float | None = None) -> int:
    """Runs a change and returns how many rows it changed, by the rows that come back: where tables are spread over
    several servers, the tag of a command may say another number.
    """
    text, *values = statement
    return len(await through.fetch(f"{text.rstrip()} returning true", *values, timeout=within_s))


def is_duplicate(error: asyncpg.PostgresError) -> bool:
    """Whether a row was refused because its key is there. Of a COPY to another server that is not certain: a caller
    that looks again sees the other's row, and tries no more often than a few times.
    """
    return isinstance(error, asyncpg.UniqueViolationError) or is_refused_copy(error)


async def ping(pool: Pool, *, within_s: float = _PING_WITHIN_S) -> None:
    """Raises `Unavailable` where the database does not answer in time."""
    async with passing_failures(), asyncio.timeout(within_s):
        await pool.fetchval("select 1")


@asynccontextmanager
async def passing_failures() -> AsyncIterator[None]:
    """Turns "the database is away" into `Unavailable`, and "you may not" into `RightMissing`; errors about the data
    pass unchanged.
    """
    try:
        yield
    except asyncpg.InsufficientPrivilegeError as error:
        raise RightMissing(f"the database says: {_one_line(error)}; {_GRANTED}") from error
    except asyncpg.PostgresError as error:
        if is_passing(error):
            remedy = "; run `abacus migrate`" if error.sqlstate in _NOT_MIGRATED else ""
            raise Unavailable(DEPENDENCY, _one_line(error) + remedy) from error
        raise
    except asyncpg.InternalClientError as error:  # it names states of asyncpg, after a connection was lost
        raise Unavailable(DEPENDENCY, "the connection was lost amid an operation") from error
    except TimeoutError as error:
        raise Unavailable(DEPENDENCY, _one_line(error) if str(error) else "no answer in time") from error
    except (OSError, asyncpg.InterfaceError) as error:
        if isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError | TypeError):
            raise  # asyncpg could not encode a value: that is about the data
        raise Unavailable(DEPENDENCY, _one_line(error)) from error


async def pages(connection: Connection, query: str, *parameters: object) -> AsyncIterator[Sequence[Any]]:
    """The rows of a query, however many, a page at a time. In a transaction."""
    cursor = await connection.cursor(query, *parameters)
    while page := await _listened(connection, cursor.fetch(_PAGE)):
        yield page


async def _listened(connection: Connection, fetching: Awaitable[Sequence[Any]]) -> Sequence[Any]:
    with connection.listening():
        return await fetching


@asynccontextmanager
async def snapshot(pool: Pool) -> AsyncIterator[Connection]:
    """One read-only state of the database for all statements in it; later postings are not seen.

    For sums over the whole ledger: a statement may take `LONG_S`, and sorts spill to disk beyond 64 MiB each.
    """
    async with (
        passing_failures(),
        pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        await connection.execute(_SUM_PLANS)
        yield connection


def is_passing(error: asyncpg.PostgresError) -> bool:
    return str(error.sqlstate or "").startswith(_PASSING) or passes(error)


def _one_line(error: BaseException) -> str:
    return (" ".join(str(error).split()) or type(error).__name__) + place_of(error)
