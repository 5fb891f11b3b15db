"""Published rate cards in Postgres: versions of a scope count from 1, and none is ever changed."""

import json
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.pricing.decide.card import CardFaults, PublishedCard, RateCard, parse_card, to_document

NONE_KNOWN: Final[Mapping[str, PublishedCard]] = MappingProxyType({})


class _Row(NamedTuple):
    """A row of `rate_card`."""

    scope: str
    version: int
    effective_from: datetime
    document: str
    published_at: datetime
    published_by: str


_LOCK_SCOPE: Final = Statement("select pg_advisory_xact_lock(hashtext('rate_card:' || :scope::text))")
_LATEST: Final = Statement(f"""
    select {columns(_Row)} from rate_card where scope = :scope order by version desc limit 1
""")
_ONE: Final = Statement(f"select {columns(_Row)} from rate_card where scope = :scope and version = :version")
_ALL: Final = Statement("""
    select scope, version, case when scope || '@' || version <> all(:known::text[]) then document end as document
    from rate_card order by scope, version
""")
_INSERT: Final = Statement(f"insert into rate_card ({columns(_Row)}) values ({parameters(_Row)})")


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
            await connection.execute(*_LOCK_SCOPE(scope=card.scope))
            record = await connection.fetchrow(*_LATEST(scope=card.scope))
            latest = _published_row(_Row(*record)) if record else None
            if latest is not None and latest.card == card:
                raise Refused(f"{latest.name} is this card already: nothing to publish")
            published = PublishedCard(card, latest.version + 1 if latest else 1)
            row = _Row(
                scope=card.scope,
                version=published.version,
                effective_from=card.effective_from,
                document=json.dumps(to_document(card)),
                published_at=now,
                published_by=by,
            )
            await connection.execute(*_INSERT(**row._asdict()))
        return published

    async def all(self, known: Mapping[str, PublishedCard] = NONE_KNOWN) -> list[PublishedCard]:
        """All cards, by scope and version. Those that are known by their names are not read again: no card changes."""
        async with passing_failures():
            records = await self._pool.fetch(*_ALL(known=list(known)))
        return [
            known[f"{scope}@{version}"] if document is None else _published(scope, version, document)
            for scope, version, document in records
        ]

    async def latest(self, scope: str) -> PublishedCard | None:
        async with passing_failures():
            record = await self._pool.fetchrow(*_LATEST(scope=scope))
        return _published_row(_Row(*record)) if record else None

    async def get(self, scope: str, version: int) -> PublishedCard | None:
        async with passing_failures():
            record = await self._pool.fetchrow(*_ONE(scope=scope, version=version))
        return _published_row(_Row(*record)) if record else None


def _published_row(row: _Row) -> PublishedCard:
    return _published(row.scope, row.version, row.document)


def _published(scope: str, version: int, document: str) -> PublishedCard:
    """A newer Abacus may have published a card that this one cannot read. Work under it has to wait for the upgrade:
    the version before would award by the wrong rates.
    """
    try:
        return PublishedCard(parse_card(json.loads(document)), version)
    except CardFaults as faults:
        fault = faults.faults[0]
        raise Unavailable("rate cards", f"this version of Abacus cannot read {scope}@{version}: {fault}") from faults
