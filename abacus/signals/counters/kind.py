"""Definitions of counters, as published documents: the latest version is in force until it is retired."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.core.fields import Fault
from abacus.documents.decide.labels import Labels
from abacus.documents.desk import DocumentDesk
from abacus.documents.kind import DocumentKind, Table, Withdrawals
from abacus.documents.store import DocumentStore, Look, Reader
from abacus.documents.types import Version, documents
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.signals.counters.decide.definition import NAME_PATTERN, Definition, to_document
from abacus.signals.counters.decide.definition_document import parse_definition, restore_definition
from abacus.signals.counters.decide.diff import describe_changes, described
from abacus.signals.counters.decide.draft_faults import faults_beside
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCE_READER

Sources: TypeAlias = Mapping[str, Source]

_ONE_MOMENT: Final[Mapping[str, Any]] = {"isolation": "repeatable_read", "readonly": True}


async def _read(document: Mapping[str, object], sources: Sources) -> Definition:
    return parse_definition(document, sources)


def _restore(document: Mapping[str, Any], version: Version) -> Definition:
    retired = version.withdrawal
    return restore_definition(document, version.number, version.published_at, retired.at if retired else None)


def _check(draft: Definition, latest: Iterable[Definition], _: Sources) -> list[Fault]:
    return faults_beside(draft, latest)


COUNTERS: Final[DocumentKind[Definition, Sources]] = DocumentKind(
    word="definition",
    plural="counter definitions",
    noun="counter",
    command="counters",
    subject="counter",
    deed=Deed.PUBLISH_COUNTERS,
    table=Table(
        "counter_definition",
        "definition_id",
        key_type="integer",
        withdrawals=Withdrawals("counter_retirement", "retire", "retired"),
    ),
    name_field="id",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    changes=describe_changes,
    check=_check,
    key=lambda definition: definition.id,
    name=lambda definition: definition.name,
    split_label=Labels("counter", NAME_PATTERN, "rides").split,
)
_READER: Final = Reader(COUNTERS)


class Published(NamedTuple):
    """The latest version of each definition and of each source, as they were at one moment."""

    definitions: Sequence[Definition]
    sources: Sequence[Source]

    @property
    def known(self) -> tuple[Mapping[str, Definition], Mapping[str, Source]]:
        """Both by the marks of their versions."""
        definitions = {f"{each.id}@{each.version}{'-' if each.retired else ''}": each for each in self.definitions}
        return definitions, {each.label: each for each in self.sources}


NOTHING: Final = Published((), ())


class DefinitionStore(DocumentStore[Definition, Sources]):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, COUNTERS)

    async def published(
        self,
        known: Mapping[str, Definition] = MappingProxyType({}),
        known_sources: Mapping[str, Source] = MappingProxyType({}),
    ) -> Published:
        """Documents that are known by their marks are not read again."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction(**_ONE_MOMENT):
            definitions = await _READER.latest(connection, known)
            return Published(documents(definitions), documents(await SOURCE_READER.latest(connection, known_sources)))


def held_sources(built_in: Iterable[Source]) -> Look[Sources]:
    """All sources; none is published until the transaction ends."""

    async def look(connection: Connection) -> Sources:
        return by_name(built_in, documents(await SOURCE_READER.held(connection)))

    return look


def counter_desk(pool: Pool, clock: Clock, built_in: Iterable[Source]) -> DocumentDesk[Definition, Sources]:
    return DocumentDesk(pool, clock, COUNTERS, held_sources(tuple(built_in)))


def by_name(built_in: Iterable[Source], published: Iterable[Source]) -> Sources:
    """All sources. The names of the sources that are there from the start are reserved."""
    return MappingProxyType({source.name: source for source in (*published, *built_in)})
