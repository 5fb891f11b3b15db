"""Upgrades a database to the schema that this version needs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from abacus.core.errors import Refused
from abacus.platform import logins, sandbox
from abacus.platform.packaged import packaged_file
from abacus.platform.postgres import Pool, open_pool, passing_failures
from abacus.platform.roles import APPLICATION_ROLE
from abacus.platform.slices import cut as cutting

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    from abacus.platform.slices.migration_steps import Told

HEAD: Final = "head"
SCRIPTS: Final = packaged_file("alembic")

_HAS_SANDBOX: Final = "select exists (select from pg_namespace where nspname = $1)"


def alembic_config(database_url: str, schema: str | None = None, *, scripts: Path = SCRIPTS) -> "Config":
    from alembic.config import Config  # noqa: PLC0415  # half of every command's start-up, and one needs it

    config = Config()
    config.set_main_option("script_location", str(scripts))
    config.set_main_option("sqlalchemy.url", database_url.replace("%", "%%"))
    if schema is not None:
        config.set_main_option("abacus.schema", schema)
    return config


def _nobody_told(_revision: str, _done: int, _of: int) -> None:
    pass


async def migrate(
    database_url: str, revision: str = HEAD, *, told: "Told" = _nobody_told, scripts: Path = SCRIPTS
) -> tuple[str | None, str | None]:
    """Upgrades to the revision, the sandbox as well if there is one, and returns the revisions before and after. A
    ledger that is cut is upgraded slice by slice, which is `told`.

    Raises `Unavailable` when there is no database, and `Refused` for a ledger whose revision `scripts` do not have.
    """
    before = await current_revision(database_url)
    await _upgrade_by_slices(database_url, before, revision, told, scripts)
    await _upgrade(database_url, revision, scripts=scripts)
    if await _has_sandbox(database_url):
        await _upgrade(database_url, revision, sandbox.SCHEMA, scripts=scripts)
    return before, await current_revision(database_url)


async def make_sandbox(database_url: str, *, anew: bool = False) -> None:
    """Makes the sandbox of a migrated database if there is none; `anew` drops an existing one, keys and all."""
    pool = await open_pool(database_url, size=1, role=None)
    try:
        async with passing_failures(), pool.acquire() as connection, connection.transaction():
            if anew:
                await connection.execute(f"drop schema if exists {sandbox.SCHEMA} cascade")
            await connection.execute(f"create schema if not exists {sandbox.SCHEMA}")
            await connection.execute(f"grant usage on schema {sandbox.SCHEMA} to {APPLICATION_ROLE}")
    finally:
        await pool.close()
    await _upgrade(database_url, HEAD, sandbox.SCHEMA)


async def cut(database_url: str, slices: int) -> bool:
    """Whether the empty ledger of a migrated database was cut now into this number of slices; False where it has been
    before.
    """
    pool = await open_pool(database_url, size=1, role=None)
    try:
        async with passing_failures(), pool.acquire() as connection, connection.transaction():
            return await cutting.cut(connection, slices)
    finally:
        await pool.close()


async def split(database_url: str) -> None:
    """Splits the logins of a migrated database, as `abacus.platform.logins` says; of its sandbox, too."""
    pool = await open_pool(database_url, size=1, role=None)
    try:
        async with passing_failures(), pool.acquire() as connection, connection.transaction():
            await logins.split(connection)
            if await connection.fetchval(_HAS_SANDBOX, sandbox.SCHEMA):
                await connection.execute(f"set local search_path = {sandbox.SCHEMA}")
                await logins.split(connection)
    finally:
        await pool.close()


async def _upgrade_by_slices(
    database_url: str, current: str | None, revision: str, told: "Told", scripts: Path
) -> None:
    """To the last revision that has steps for slices."""
    from abacus.platform.slices.migration_steps import ahead, do_steps  # noqa: PLC0415  # as above

    if not await _is_cut(database_url):
        return
    config = alembic_config(database_url, scripts=scripts)
    _check_is_known(current, scripts)
    for before, stepping in ahead(config, current, revision):
        await _upgrade(database_url, before, scripts=scripts)
        async with _refusals():
            await do_steps(database_url, config, stepping, told)
        await _upgrade(database_url, stepping, scripts=scripts)


async def _is_cut(database_url: str) -> bool:
    pool = await open_pool(database_url, size=1, role=None)
    try:
        async with passing_failures():
            is_there = await pool.fetchval("select to_regclass('slice') is not null")
            return is_there and bool(await pool.fetchval("select exists (select from slice)"))
    finally:
        await pool.close()


@asynccontextmanager
async def _refusals() -> AsyncIterator[None]:
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415  # as above

    try:
        yield
    except DBAPIError as error:
        raise Refused(f"the database refused the migration: {' '.join(str(error.orig).split())}") from error


async def _upgrade(database_url: str, revision: str, schema: str | None = None, *, scripts: Path = SCRIPTS) -> None:
    from alembic import command  # noqa: PLC0415  # as above

    _check_is_known(await current_revision(database_url, schema), scripts)
    # Alembic's environment runs an event loop of its own.
    async with _refusals():
        await asyncio.to_thread(command.upgrade, alembic_config(database_url, schema, scripts=scripts), revision)


def _check_is_known(revision: str | None, scripts: Path) -> None:
    known = [each.revision for each in _directory(scripts).walk_revisions()]
    last, first = known[0], known[-1]
    if revision is None or revision in known:
        return
    if revision < first:
        raise Refused(
            f"this ledger is at revision {revision}, and migrations begin at {first}: migrate it with the last commit"
            " without the baseline first, and then with this version (docs/operate/deploy.md)"
        )
    raise Refused(f"this ledger is at revision {revision}, of a later version: this one knows none after {last}")


async def _has_sandbox(database_url: str) -> bool:
    pool = await open_pool(database_url, size=1, role=None)
    try:
        return await has_sandbox(pool)
    finally:
        await pool.close()


async def has_sandbox(pool: Pool) -> bool:
    """Whether the database of this pool has a sandbox. Raises `Unavailable`."""
    async with passing_failures():
        return bool(await pool.fetchval(_HAS_SANDBOX, sandbox.SCHEMA))


async def current_revision(database_url: str, schema: str | None = None) -> str | None:
    """Of the ledger, or of the sandbox in its schema. Raises `Unavailable`."""
    versions = "alembic_version" if schema is None else f"{schema}.alembic_version"
    pool = await open_pool(database_url, size=1, role=None)
    try:
        async with passing_failures():
            if await pool.fetchval("select to_regclass($1)", versions) is None:
                return None
            revision: str | None = await pool.fetchval(f"select version_num from {versions}")
            return revision
    finally:
        await pool.close()


def head_revision() -> str | None:
    return _directory(SCRIPTS).get_current_head()


def _directory(scripts: Path) -> "ScriptDirectory":
    from alembic.script import ScriptDirectory  # noqa: PLC0415  # as above

    return ScriptDirectory(str(scripts))
