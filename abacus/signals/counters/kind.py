"""Definitions of counters, as published documents: the latest version is in force until it is retired."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from abacus.core.fields import Fault
from abacus.documents.decide.version_words import Labels
from abacus.documents.directory import DocumentDirectory
from abacus.documents.kind import DocumentKind, Table, Withdrawals
from abacus.documents.store import Look
from abacus.documents.types import Version, documents
from abacus.people.types.deed import Deed
from abacus.platform.fresh_copy import USUAL, Cadence
from abacus.platform.postgres import Connection, Pool
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import NAME_PATTERN, Definition, to_document
from abacus.signals.counters.decide.definition_document import parse_definition, restore_definition
from abacus.signals.counters.decide.definition_form import COUNTER_FORM, counter_choices
from abacus.signals.counters.decide.diff import describe_changes, described, faults_beside
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.decide.topics import InForce, in_force, topics_of
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.kind import SOURCE_READER, SOURCES, by_name
from abacus.signals.places.region_ids import region_ids


async def _read(document: Mapping[str, object], around: CounterPublications) -> Definition:
    return parse_definition(document, *around)


def _restore(document: Mapping[str, Any], version: Version) -> Definition:
    retired = version.withdrawal
    return restore_definition(document, version.number, version.published_at, retired.at if retired else None)


def _check(draft: Definition, latest: Iterable[Definition], _: CounterPublications) -> list[Fault]:
    return faults_beside(draft, latest)


COUNTERS: Final[DocumentKind[Definition, CounterPublications]] = DocumentKind(
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
    compare=describe_changes,
    check=_check,
    key=lambda definition: definition.id,
    name=lambda definition: definition.name,
    split_label=Labels("counter", NAME_PATTERN, "rides").split,
    form=COUNTER_FORM,
    choices=counter_choices,
)


def counter_directory(pool: Pool, built_in: Iterable[Source], cadence: Cadence = USUAL) -> DocumentDirectory[Catalog]:
    """Serves the catalogue of all definitions, with the sources of the same moment: no event may be read by a source
    that is older than the definition which counts it, because it would lack the newest variables.
    """
    reserved = tuple(built_in)
    return DocumentDirectory(
        pool,
        COUNTERS,
        lambda moment: Catalog(moment.of(COUNTERS), by_name(reserved, moment.of(SOURCES))),
        SOURCES,
        cadence=cadence,
    )


def held_sources(built_in: Iterable[Source]) -> Look[CounterPublications]:
    """All sources, of which none is published until the transaction ends, and the regions in force."""

    async def look(connection: Connection) -> CounterPublications:
        sources = by_name(built_in, documents(await SOURCE_READER.held(connection)))
        return CounterPublications(sources, await region_ids(connection))

    return look


class Documents:
    """What each topic's events are counted by. Raises `Unavailable` as `catalog` does."""

    def __init__(self, catalog: Callable[[], Catalog], events_topic: str, locate: Locate | None = None) -> None:
        self._catalog = catalog
        self._events_topic = events_topic
        self._locate = locate
        self._of: dict[str, InForce] = {}

    def topics(self) -> Collection[str]:
        """The topics whose events count."""
        return topics_of(self._catalog(), self._events_topic)

    def of(self, topic: str) -> InForce:
        """The same object until a document changes."""
        catalog, known = self._catalog(), self._of.get(topic)
        if known is None or known.catalog is not catalog:
            known = self._of[topic] = in_force(catalog, topic, self._events_topic, self._locate)
        return known
