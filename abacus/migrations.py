"""Bringing a database to the schema that this version needs."""

import asyncio
from typing import TYPE_CHECKING, Final

from abacus.core.errors import Refused
from abacus.packaged import packaged_file
from abacus.postgres import open_pool, passing_failures

if TYPE_CHECKING:
    from alembic.config import Config

HEAD: Final = "head"


def alembic_config(database_url: str) -> "Config":
    from alembic.config import Config  # noqa: PLC0415  # half of every command's start-up, and one needs it

    config = Config()
    config.set_main_option("script_location", str(packaged_file("alembic")))
    config.set_main_option("sqlalchemy.url", database_url.replace("%", "%%"))
    return config


async def migrate(database_url: str, revision: str = HEAD) -> tuple[str | None, str | None]:
    """Upgrade to the revision; the revisions before and after. Raises `Unavailable` when there is no database."""
    from alembic import command  # noqa: PLC0415  # as above
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415  # as above

    before = await current_revision(database_url)
    # Alembic's environment runs an event loop of its own.
    try:
        await asyncio.to_thread(command.upgrade, alembic_config(database_url), revision)
    except DBAPIError as error:
        raise Refused(f"the database refused the migration: {' '.join(str(error.orig).split())}") from error
    return before, await current_revision(database_url)


async def current_revision(database_url: str) -> str | None:
    pool = await open_pool(database_url, size=1, role=None)
    try:
        async with passing_failures():
            if await pool.fetchval("select to_regclass('alembic_version')") is None:
                return None
            revision: str | None = await pool.fetchval("select version_num from alembic_version")
            return revision
    finally:
        await pool.close()


def head_revision() -> str | None:
    from alembic.script import ScriptDirectory  # noqa: PLC0415  # as above

    return ScriptDirectory(str(packaged_file("alembic"))).get_current_head()
