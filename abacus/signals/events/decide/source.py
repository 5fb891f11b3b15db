"""A source: where the events of a stream stand in its messages, and the types that are taken. Pure: the value and its
documents.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, TypeVar

from abacus.core import fields
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields
from abacus.signals.events.decide.document import places_document, read_places, read_types, types_document
from abacus.signals.events.decide.places import Places, Variable
from abacus.signals.events.types import VariableType

V = TypeVar("V")

TRANSACTIONS: Final = "transactions"  # the source of the topic that the calculator reads
BUILT_IN: Final = frozenset({TRANSACTIONS, "points", "tiers", "places"})  # sources that are there from the start
SOURCE_PATTERN: Final = "[a-z][a-z0-9-]{0,39}"
MAX_SENDERS: Final = 100

_NOBODY: Final[frozenset[str]] = frozenset()
_NAME: Final = re.compile(SOURCE_PATTERN)
_TOPIC: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
_SENDER: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


@dataclass(frozen=True, slots=True)
class Source:
    """A stream of events. `version` is 0 for a draft and for a source that is there from the start.

    `places` is None where `topic` is: such events come by HTTP alone, in one form for all sources. `variables` has the
    places and `types` the types of the variables of each type that is taken.
    """

    name: str
    topic: str | None
    senders: frozenset[str]
    substream: bool
    places: Places | None
    variables: Mapping[str, Mapping[str, Variable]]
    version: int = 0
    types: Mapping[str, Mapping[str, VariableType]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", _frozen({name: _frozen(each) for name, each in self.variables.items()}))
        types = {name: _frozen({v: of.type for v, of in each.items()}) for name, each in self.variables.items()}
        object.__setattr__(self, "types", _frozen(types))

    def __hash__(self) -> int:  # the generated one would hash the mappings, which have no hash
        return hash((self.name, self.version))

    @property
    def label(self) -> str:
        """The source and its version, as people write it: "weather@3"."""
        return f"{self.name}@{self.version}"

    def published(self, version: int) -> "Source":
        """The same source under its number."""
        return replace(self, version=version)


def substream_topic(name: str, events_topic: str) -> str:
    """The topic of ours that has those events of a source that somebody asks for, as they stand on its own topic."""
    return f"{events_topic}.{name}"


def followed_topic(source: Source, events_topic: str) -> str | None:
    """The topic from which followers read the source's own messages; None where they come by HTTP alone."""
    return substream_topic(source.name, events_topic) if source.substream else source.topic


def parse_source(document: Mapping[str, object], *, built_in: bool = False) -> Source:
    """The source of a document, be it from TOML or from JSON. Raises `DocumentFaults` with every fault that it has.

    The names of sources that are there from the start are refused, unless it is such a source.
    """
    faults: list[Fault] = []
    top = Fields(document, "", faults)
    name = top.read("source", _name if built_in else _free_name, "")
    topic = top.read_if_there("topic", _topic, None)
    senders = top.read_if_there("senders", _senders, _NOBODY)
    substream = top.read_if_there("substream", fields.flag, default=False)
    variables = read_types(top)
    places = read_places(top.table("fields", optional=topic is None and "topic" not in document), variables)
    if substream and topic is None and "topic" not in document:
        top.note("substream", "this source has no topic to copy from")
    if substream and places is not None and places.coordinates is not None:
        top.note("substream", "copies messages, and coordinates are never kept; leave out fields.lat and fields.lon")
    if not senders and "senders" not in document and "topic" not in document:
        top.note("topic", "missing; a source needs a topic, or senders who may post its events")
    top.refuse_unknown()
    if faults:
        raise DocumentFaults(faults)
    return Source(name, topic, senders, substream, places, variables)


def to_document(source: Source) -> dict[str, object]:
    """The source as JSON holds it. `parse_source` makes the same source of it again, but for its version.

    Types and variables stand in alphabetical order.
    """
    document: dict[str, object] = {"source": source.name}
    if source.topic is not None:
        document["topic"] = source.topic
    if source.senders:
        document["senders"] = sorted(source.senders)
    if source.substream:
        document["substream"] = True
    if source.places is not None:
        document["fields"] = places_document(source.places)
    document["types"] = types_document(source.variables)
    return document


_name: Final = fields.matching(
    _NAME, "is not a source; write at most 40 small letters, digits and dashes, beginning with a letter (weather)"
)
_topic: Final = fields.matching(
    _TOPIC, "is not a topic; write at most 249 letters, digits, dots, dashes and underscores (weather.observations)"
)
_sender: Final = fields.matching(_SENDER, "is not a partner's id; write small letters, digits and dashes (acme)")


def _free_name(value: object) -> str:
    name = _name(value)
    if name in BUILT_IN:
        raise Bad(f"{name!r} is a source that is there from the start; write another name")
    return name


def _senders(value: object) -> frozenset[str]:
    if not isinstance(value, list | tuple):
        raise Bad(f"{fields.shown(value)}; write an array of partners' ids")
    if len(value) > MAX_SENDERS:
        raise Bad(f"{len(value)} partners; at most {MAX_SENDERS} may post the events of a source")
    return frozenset(map(_sender, value))


def _frozen(mapping: Mapping[str, V]) -> Mapping[str, V]:
    return MappingProxyType(dict(mapping))
