"""Event sources, as published documents: the latest version of a source is in force."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from abacus.core.clock import Clock
from abacus.core.fields import EARLIEST, Fault
from abacus.documents.decide.version_words import Labels
from abacus.documents.desk import DocumentDesk
from abacus.documents.directory import DocumentDirectory
from abacus.documents.kind import DocumentKind, Table
from abacus.documents.store import Reader
from abacus.documents.types import Record, Version
from abacus.people.types.deed import Deed
from abacus.platform.fresh_copy import USUAL, Cadence
from abacus.platform.postgres import Connection, Pool
from abacus.signals.events.decide.diff import described, faults_beside
from abacus.signals.events.decide.source import SOURCE_PATTERN, Source, parse_source, to_document
from abacus.signals.events.decide.source_form import SOURCE_FORM, source_choices

Sources: TypeAlias = Mapping[str, Source]


class Offered(NamedTuple):
    """What a form offers beside what may be typed: partners by their ids, and topics."""

    partners: Sequence[str] = ()
    topics: Sequence[str] = ()


class Reserved(NamedTuple):
    """What no source that people publish may take: the sources that are there from the start, and the topic that has
    the events of all; and what is `offered` to who writes one.
    """

    built_in: Sequence[Source]
    events_topic: str
    offered: Offered = Offered()

    async def look(self, _: Connection) -> "Reserved":
        """It needs no database."""
        return self


async def _read(document: Mapping[str, object], _: Reserved) -> Source:
    return parse_source(document)


def _restore(document: Mapping[str, Any], version: Version) -> Source:
    return parse_source(document, built_in=True).published(version.number)  # its name may be reserved since


def _check(draft: Source, latest: Iterable[Source], reserved: Reserved) -> list[Fault]:
    return faults_beside(draft, [*reserved.built_in, *latest], reserved.events_topic)


SOURCES: Final[DocumentKind[Source, Reserved]] = DocumentKind(
    word="source",
    plural="event sources",
    noun="source of events",
    command="events",
    subject="source",
    deed=Deed.PUBLISH_SOURCES,
    table=Table("event_source", "source"),
    name_field="source",
    read=_read,
    restore=_restore,
    to_document=to_document,
    described=described,
    check=_check,
    key=lambda source: source.name,
    name=lambda source: source.name,
    split_label=Labels("source", SOURCE_PATTERN, "weather", first=0).split,
    form=SOURCE_FORM,
    choices=lambda document, reserved: source_choices(document, *reserved.offered),
)
SOURCE_READER: Final = Reader(SOURCES)


def by_name(built_in: Iterable[Source], published: Iterable[Source]) -> Sources:
    """All sources. The names of the sources that are there from the start are reserved."""
    return MappingProxyType({source.name: source for source in (*published, *built_in)})


def source_directory(pool: Pool, built_in: Iterable[Source], cadence: Cadence = USUAL) -> DocumentDirectory[Sources]:
    """Serves the latest version of each source by its name, with the sources that are there from the start."""
    reserved = tuple(built_in)
    return DocumentDirectory(pool, SOURCES, lambda moment: by_name(reserved, moment.of(SOURCES)), cadence=cadence)


class SourceDesk(DocumentDesk[Source, Reserved]):
    """The one door to sources: those that are there from the start are read here too, and never published."""

    def __init__(self, pool: Pool, clock: Clock, reserved: Reserved) -> None:
        first = [Record(each, Version(each.name, 0, EARLIEST, "", None, {})) for each in reserved.built_in]
        super().__init__(pool, clock, SOURCES, reserved.look, from_the_start=first)
