"""Published definitions of counters in Postgres: versions of a definition count from 1, none is ever changed, and the
latest can be retired.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abacus.core.errors import Refused, Unavailable, absent
from abacus.core.fields import DocumentFaults
from abacus.documents.types import documents
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.signals.counters.decide.definition import Definition, to_document
from abacus.signals.counters.decide.publishing import faults_beside, is_in_force
from abacus.signals.counters.decide.reading import DefinitionFaults, parse_definition, restore_definition
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCE_READER

DEPENDENCY: Final = "counter definitions"
NONE_KNOWN: Final[Mapping[str, Definition]] = MappingProxyType({})
NO_SOURCES: Final[Mapping[str, Source]] = MappingProxyType({})


class DefinitionRecord(NamedTuple):
    """A published definition, with who published it, and who retired it and why."""

    definition: Definition
    published_by: str
    retired_by: str | None
    reason: str | None


class Published(NamedTuple):
    """The latest version of each definition and of each source, as they were at one moment."""

    definitions: Sequence[Definition]
    sources: Sequence[Source]

    @property
    def known(self) -> tuple[Mapping[str, Definition], Mapping[str, Source]]:
        """Both by the labels by which `DefinitionStore.published` need not read them again."""
        definitions = {f"{each.id}@{each.version}": each for each in self.definitions}
        return definitions, {each.label: each for each in self.sources}


NOTHING: Final = Published((), ())


class _Row(NamedTuple):
    """A row of `counter_definition`."""

    definition_id: int
    version: int
    document: str
    published_at: datetime
    published_by: str


class _Told(NamedTuple):
    """A definition with everything that is known of it, but for a document that the process has already."""

    definition_id: int
    version: int
    document: str | None
    published_at: datetime
    published_by: str
    retired_at: datetime | None
    retired_by: str | None
    reason: str | None

    @property
    def label(self) -> str:
        return f"{self.definition_id}@{self.version}"


_TOLD: Final = """
    d.definition_id, d.version, case when k.label is null then d.document end as document, d.published_at,
    d.published_by, r.retired_at, r.retired_by, r.reason
    from counter_definition d
    left join counter_retirement r on r.definition_id = d.definition_id and r.version = d.version
    left join unnest(:known::text[]) k (label) on k.label = d.definition_id || '@' || d.version
"""
_LOCK: Final = Statement("select pg_advisory_xact_lock(hashtext('counter_definition'))")
_LATEST: Final = Statement(f"""
select distinct on (d.definition_id) {_TOLD} order by d.definition_id, d.version desc
""")
_HISTORY: Final = Statement(f"""
select {_TOLD} where d.definition_id = :definition_id order by d.version
""")
# The connections of workers join by keys alone, which compares each label that is known with each that is there.
_JOIN_BY_HASH: Final = "set local enable_hashjoin = on"
_ONE_MOMENT: Final[Mapping[str, Any]] = {"isolation": "repeatable_read", "readonly": True}
_INSERT: Final = Statement(f"insert into counter_definition ({columns(_Row)}) values ({parameters(_Row)})")
_RETIRE: Final = Statement("""
insert into counter_retirement (definition_id, version, retired_at, retired_by, reason)
values (:definition_id, :version, :now, :by, :reason)
""")


class DefinitionStore:
    """Reads, publishes and retires definitions. Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def publish(
        self,
        drafts: Sequence[Definition],
        *,
        built_in: Iterable[Source],
        by: str,
        now: datetime,
        also: Also = nothing_else,
    ) -> list[Definition]:
        """Give each definition its next version; all are published, or none. Publishers wait for each other, and so do
        those who publish sources.

        Raises `DefinitionFaults` when one does not fit the published sources or stands in the way of another, and
        `Refused` when one is published already.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            sources = by_name(built_in, documents(await SOURCE_READER.held(connection)))
            records = await _records(connection, _LATEST(known=[]))
            latest = {record.definition.id: record.definition for record in records}
            published = []
            for draft in drafts:
                published.append(_next_version(draft, sources, latest, now))
                latest[draft.id] = published[-1]
            await connection.executemany(*_INSERT.rows([_row(each, by) for each in published]))
            await also(connection)
            return published

    async def retire(self, name: str, *, by: str, reason: str, now: datetime, also: Also = nothing_else) -> Definition:
        """The definition counts no more. Raises `Refused` when there is none, or when it is retired already."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_LOCK())
            record = named(name, await _records(connection, _LATEST(known=[])))
            definition = record.definition
            if definition.retired_at is not None:
                at = definition.retired_at.isoformat()
                raise Refused(f"{definition.label} was retired by {record.retired_by} at {at} already")
            what = {"definition_id": definition.id, "version": definition.version}
            await connection.execute(*_RETIRE(**what, now=now, by=by, reason=reason))
            await also(connection)
            return definition.published(definition.version, definition.published_at, now)

    async def published(
        self, known: Mapping[str, Definition] = NONE_KNOWN, known_sources: Mapping[str, Source] = NO_SOURCES
    ) -> Published:
        """The latest version of each definition and of each source, as they are at one moment. Documents that are known
        by their labels are not read again.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(**_ONE_MOMENT):
            await connection.execute(_JOIN_BY_HASH)
            records = await _records(connection, _LATEST(known=list(known)), known)
            sources = documents(await SOURCE_READER.latest(connection, known_sources))
        return Published([record.definition for record in records], sources)

    async def latest(self) -> list[DefinitionRecord]:
        """The latest version of each definition, by id."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _records(connection, _LATEST(known=[]))

    async def history(self, definition_id: int) -> list[DefinitionRecord]:
        """All versions of a definition."""
        async with passing_failures(), self._pool.acquire() as connection:
            return await _records(connection, _HISTORY(known=[], definition_id=definition_id))


def by_name(built_in: Iterable[Source], published: Iterable[Source]) -> Mapping[str, Source]:
    """All sources. The names of those that are there from the start are reserved."""
    return MappingProxyType({source.name: source for source in (*published, *built_in)})


def named(name: str, records: Sequence[DefinitionRecord]) -> DefinitionRecord:
    """Raises `Refused` when none has the name."""
    fitting = [record for record in records if record.definition.name == name]
    if not fitting:
        raise absent("counter", name, "`abacus counters list` prints all")
    return fitting[0]


def _next_version(
    draft: Definition, sources: Mapping[str, Source], latest: Mapping[int, Definition], now: datetime
) -> Definition:
    """Raises `DefinitionFaults` or `Refused`."""
    before = latest.get(draft.id)
    if before is not None and is_in_force(draft, before):
        raise Refused(f"{before.label} is this definition already: nothing to publish")
    definition = parse_definition(to_document(draft), sources)
    faults = faults_beside(definition, latest.values())
    if faults:
        raise DefinitionFaults(faults)
    return definition.published(before.version + 1 if before is not None else 1, now)


def _row(definition: Definition, by: str) -> dict[str, object]:
    return _Row(
        definition_id=definition.id,
        version=definition.version,
        document=json.dumps(to_document(definition)),
        published_at=definition.published_at,
        published_by=by,
    )._asdict()


async def _records(
    connection: Connection, query: tuple[Any, ...], known: Mapping[str, Definition] = NONE_KNOWN
) -> list[DefinitionRecord]:
    return [_record(_Told(*row), known) for row in await connection.fetch(*query)]


def _record(told: _Told, known: Mapping[str, Definition]) -> DefinitionRecord:
    definition = _restored(told) if told.document is not None else known[told.label]
    if definition.retired_at != told.retired_at:
        definition = definition.published(told.version, told.published_at, told.retired_at)
    return DefinitionRecord(definition, told.published_by, told.retired_by, told.reason)


def _restored(told: _Told) -> Definition:
    """A newer Abacus may have published a definition that this one cannot read. Counting has to wait for the upgrade:
    what the version before does not count is never counted.
    """
    try:
        return restore_definition(json.loads(told.document or ""), told.version, told.published_at, told.retired_at)
    except DocumentFaults as faults:
        fault = faults.faults[0]
        raise Unavailable(DEPENDENCY, f"this version of Abacus cannot read {told.label}: {fault}") from faults
