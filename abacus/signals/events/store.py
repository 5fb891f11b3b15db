"""Published event sources in Postgres: versions of a source count from 1, and none is ever changed."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable
from abacus.core.fields import DocumentFaults
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.signals.events.decide.neighbours import faults_beside
from abacus.signals.events.decide.source import Source, SourceFaults, parse_source, to_document

DEPENDENCY: Final = "event sources"
NONE_KNOWN: Final[Mapping[str, Source]] = MappingProxyType({})


class SourceRecord(NamedTuple):
    """A published source, with who published it."""

    source: Source
    published_at: datetime
    published_by: str


class _Row(NamedTuple):
    """A row of `event_source`."""

    source: str
    version: int
    document: str
    published_at: datetime
    published_by: str


_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtext('event_source'))")
_HOLD: Final = Statement("select pg_advisory_xact_lock_shared(hashtext('event_source'))")
_LATEST: Final = Statement(f"""
select distinct on (source) {columns(_Row)} from event_source order by source, version desc
""")
_HISTORY: Final = Statement(f"""
select {columns(_Row)} from event_source where :source::text is null or source = :source order by source, version
""")
_INSERT: Final = Statement(f"insert into event_source ({columns(_Row)}) values ({parameters(_Row)})")


class SourceStore:
    """Reads and publishes sources. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def publish(
        self,
        draft: Source,
        *,
        built_in: Iterable[Source],
        events_topic: str,
        by: str,
        now: datetime,
        also: Also = nothing_else,
    ) -> Source:
        """Give the source its next version. Publishers wait for each other, because sources may share a topic.

        Raises `SourceFaults` when it does not fit beside the other sources, and `Refused` when its latest version is
        the same already.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            latest = {record.source.name: record.source for record in await _latest(connection)}
            faults = faults_beside(draft, [*built_in, *latest.values()], events_topic)
            if faults:
                raise SourceFaults(faults)
            before = latest.get(draft.name)
            if before is not None and before == draft.published(before.version):
                raise Refused(f"{before.label} is this source already: nothing to publish")
            source = draft.published(before.version + 1 if before is not None else 1)
            row = _Row(
                source=source.name,
                version=source.version,
                document=json.dumps(to_document(source)),
                published_at=now,
                published_by=by,
            )
            await connection.execute(*_INSERT(**row._asdict()))
            await also(connection)
            return source

    async def latest(self, known: Mapping[str, Source] = NONE_KNOWN) -> list[SourceRecord]:
        """The latest version of each source, by name. Documents that are known by their labels are not parsed again."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _latest(connection, known)

    async def history(self, name: str | None = None) -> list[SourceRecord]:
        """All versions of a source, or of all, by name and version."""
        async with passing_failures():
            rows = await self._pool.fetch(*_HISTORY(source=name))
        return [_record(_Row(*row), NONE_KNOWN) for row in rows]


async def latest_sources(connection: Connection, known: Mapping[str, Source] = NONE_KNOWN) -> list[Source]:
    """The latest version of each source, for a transaction that reads more than sources."""
    return [record.source for record in await _latest(connection, known)]


async def held_sources(connection: Connection) -> list[Source]:
    """The same, and none is published until the transaction ends."""
    await connection.execute(*_HOLD())
    return await latest_sources(connection)


async def _latest(connection: Connection, known: Mapping[str, Source] = NONE_KNOWN) -> list[SourceRecord]:
    return [_record(_Row(*row), known) for row in await connection.fetch(*_LATEST())]


def _record(row: _Row, known: Mapping[str, Source]) -> SourceRecord:
    """A newer Abacus may have published a source that this one cannot read. Its events have to wait for the upgrade:
    the version before would read them wrongly.
    """
    label = f"{row.source}@{row.version}"
    if label in known:
        return SourceRecord(known[label], row.published_at, row.published_by)
    try:
        source = parse_source(json.loads(row.document)).published(row.version)
    except DocumentFaults as faults:
        fault = faults.faults[0]
        raise Unavailable(DEPENDENCY, f"this version of Abacus cannot read {label}: {fault}") from faults
    return SourceRecord(source, row.published_at, row.published_by)
