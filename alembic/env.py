"""Migrations run over asyncpg, as the owner of the schema; `abacus migrate` hands over the database's address."""

import asyncio
from typing import Any

from alembic import context
from sqlalchemy import Connection, text

from abacus.platform.slices.migration_steps import FORGET, engine_for


def run(connection: Connection) -> None:
    def forget(**_: Any) -> None:
        connection.execute(text(FORGET))

    context.configure(connection=connection, transaction_per_migration=True, on_version_apply=forget)
    with context.begin_transaction():
        context.run_migrations()


async def run_online() -> None:
    url = context.config.get_main_option("sqlalchemy.url")
    if not url:
        raise SystemExit("no database: run migrations with `abacus migrate`, or pass -x through your own config")
    engine = engine_for(url, context.config.get_main_option("abacus.schema"))
    async with engine.connect() as connection:
        await connection.run_sync(run)
    await engine.dispose()


asyncio.run(run_online())
