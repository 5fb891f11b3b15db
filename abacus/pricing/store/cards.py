"""Published rate cards in Postgres: versions of a scope count from 1, and none is ever changed."""

import json
from datetime import datetime
from typing import Final

import asyncpg

from abacus.core.errors import Refused, Unavailable
from abacus.platform.postgres import Pool, passing_failures
from abacus.pricing.decide.card import CardFaults, PublishedCard, RateCard, parse_card, to_document

_LOCK_SCOPE: Final = "select pg_advisory_xact_lock(hashtext('rate_card:' || $1::text))"
_LATEST: Final = """
    select scope, version, document from rate_card where scope = $1 order by version desc limit 1
"""
_ONE: Final = """
    select scope, version, document from rate_card where scope = $1 and version = $2
"""
_ALL: Final = """
    select scope, version, document from rate_card order by scope, version
"""
_INSERT: Final = """
    insert into rate_card (scope, version, effective_from, document, published_at, published_by)
    values ($1, $2, $3, $4, $5, $6)
"""


class CardStore:
    """Reads and publishes cards. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def publish(self, card: RateCard, *, by: str, now: datetime) -> PublishedCard:
        """Give the card the next version of its scope. Publishers of one scope wait for each other.

        Raises `Refused` when the scope's latest version is the same card already: a version says that something
        changed.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK_SCOPE, card.scope)
            row = await connection.fetchrow(_LATEST, card.scope)
            latest = _published(row) if row else None
            if latest is not None and latest.card == card:
                raise Refused(f"{latest.name} is this card already: nothing to publish")
            published = PublishedCard(card, latest.version + 1 if latest else 1)
            document = json.dumps(to_document(card))
            await connection.execute(_INSERT, card.scope, published.version, card.effective_from, document, now, by)
        return published

    async def all(self) -> list[PublishedCard]:
        async with passing_failures():
            rows = await self._pool.fetch(_ALL)
        return [_published(row) for row in rows]

    async def latest(self, scope: str) -> PublishedCard | None:
        async with passing_failures():
            row = await self._pool.fetchrow(_LATEST, scope)
        return _published(row) if row else None

    async def get(self, scope: str, version: int) -> PublishedCard | None:
        async with passing_failures():
            row = await self._pool.fetchrow(_ONE, scope, version)
        return _published(row) if row else None


def _published(row: asyncpg.Record) -> PublishedCard:
    """A newer Abacus may have published what this one cannot read. Its work has to wait for the upgrade: going by the
    version before would award by the wrong rates.
    """
    try:
        return PublishedCard(parse_card(json.loads(row["document"])), row["version"])
    except CardFaults as faults:
        fault = faults.faults[0]
        name = f"{row['scope']}@{row['version']}"
        raise Unavailable("rate cards", f"this version of Abacus cannot read {name}: {fault}") from faults
