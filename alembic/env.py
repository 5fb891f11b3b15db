"""Migrations run over asyncpg, as the owner of the schema; `abacus migrate` hands over the database's address."""

import asyncio
from typing import Any

from alembic import context
from sqlalchemy import Connection, text

import abacus.console.entry.tables
import abacus.console.errands.tables
import abacus.console.selections.tables
import abacus.engage.campaigns.effect_tables
import abacus.engage.campaigns.tables
import abacus.engage.downstreams.tables
import abacus.engage.notify.tables
import abacus.intake.partners.tables
import abacus.intake.pulse.tables
import abacus.ledger.store.tables
import abacus.oversight.closing.tables
import abacus.oversight.erasure.tables
import abacus.oversight.reports.tables
import abacus.people.store.tables
import abacus.platform.pace.tables
import abacus.platform.presence.tables
import abacus.platform.quarantine.tables
import abacus.platform.rate_limits.tables
import abacus.pricing.store.tables
import abacus.programs.expiry.tables
import abacus.programs.tiers.tables
import abacus.signals.counters.reading.tables
import abacus.signals.counters.store.tables
import abacus.signals.counters.tables
import abacus.signals.events.tables
import abacus.signals.segments.tables
from abacus.platform.metadata import METADATA
from abacus.platform.slices.migration_steps import FORGET, engine_for

# Importing a tables module registers its tables; the names are used here so that nobody tidies the imports away.
ROOMS = (
    abacus.console.entry.tables,
    abacus.console.errands.tables,
    abacus.console.selections.tables,
    abacus.programs.expiry.tables,
    abacus.ledger.store.tables,
    abacus.oversight.closing.tables,
    abacus.oversight.erasure.tables,
    abacus.signals.counters.reading.tables,
    abacus.signals.counters.store.tables,
    abacus.engage.campaigns.effect_tables,
    abacus.engage.campaigns.tables,
    abacus.signals.counters.tables,
    abacus.engage.downstreams.tables,
    abacus.signals.events.tables,
    abacus.engage.notify.tables,
    abacus.signals.segments.tables,
    abacus.intake.partners.tables,
    abacus.intake.pulse.tables,
    abacus.people.store.tables,
    abacus.platform.pace.tables,
    abacus.platform.presence.tables,
    abacus.platform.quarantine.tables,
    abacus.platform.rate_limits.tables,
    abacus.pricing.store.tables,
    abacus.oversight.reports.tables,
    abacus.programs.tiers.tables,
)


def run(connection: Connection) -> None:
    def forget(**_: Any) -> None:
        connection.execute(text(FORGET))

    context.configure(
        connection=connection,
        target_metadata=METADATA,
        compare_type=True,
        transaction_per_migration=True,
        on_version_apply=forget,
    )
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


if context.is_offline_mode():
    context.configure(dialect_name="postgresql", target_metadata=METADATA, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    asyncio.run(run_online())
