"""The form of event sources: what people fill in, and what they can choose from. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from abacus.documents.form.types import (
    Choice,
    Choices,
    Either,
    Entries,
    Field,
    Flag,
    Form,
    Group,
    Option,
    Pick,
    Rows,
    Text,
)
from abacus.documents.form.values import plain_words
from abacus.signals.events.decide.document import MAX_ID_PARTS, VARIABLE_PATTERN
from abacus.signals.events.decide.places import TimeFormat
from abacus.signals.events.decide.source import BUILT_IN, MAX_SENDERS, SOURCE_PATTERN, Source, substream_topic
from abacus.signals.events.types import VariableType

_OF_THE_BROKER: Final = "__"
_TIMES: Final = Choice(
    [
        Option(TimeFormat.RFC3339.value, "as RFC 3339"),
        Option(TimeFormat.EPOCH_S.value, "in seconds since 1970"),
        Option(TimeFormat.EPOCH_MS.value, "in milliseconds since 1970"),
    ]
)
_TYPES: Final = Choice(
    [Option(each.value, "a list of texts" if each is VariableType.TEXTS else each.value) for each in VariableType]
)
_ID: Final = Either([("at one place", Text()), ("at several places", Rows(Text(), "place", MAX_ID_PARTS))])
_VARIABLE: Final = Either(
    [
        ("of the type", _TYPES),
        (
            "at another place",
            Group(
                [
                    Field(name="pointer", sort=Text(), label="Place", required=True),
                    Field(name="type", sort=_TYPES, label="Type", required=True),
                ]
            ),
        ),
    ]
)
_PLACES: Final = Group(
    [
        Field(
            name="type",
            sort=Either(
                [
                    ("at a place", Text()),
                    (
                        "always the same",
                        Group([Field(name="always", sort=Pick("types"), label="Type of every event", required=True)]),
                    ),
                ]
            ),
            label="Type",
            required=True,
            example="/type",
            begins="the type",
            says=lambda value, _: f"is always {value['always']}" if isinstance(value, Mapping) else f"at {value}",
        ),
        Field(
            name="id",
            sort=_ID,
            label="Id",
            help="Two events of a type with the same id are one.",
            required=True,
            example="/id",
            begins="the id",
            says=lambda value, _: _places(value),
        ),
        Field(
            name="ids",
            sort=Entries(Pick("types"), _ID, "type"),
            label="Types whose id stands elsewhere",
            begins="but the id",
            says=lambda value, _: ", ".join(f"of {type_} {_places(each)}" for type_, each in value.items()),
        ),
        Field(
            name="time",
            sort=Either(
                [
                    ("at a place", Text()),
                    (
                        "in another format",
                        Group(
                            [
                                Field(name="pointer", sort=Text(), label="Place", required=True),
                                Field(name="format", sort=_TIMES, label="Written", required=True),
                            ]
                        ),
                    ),
                ]
            ),
            label="Time",
            help="RFC 3339, unless it is in another format.",
            required=True,
            example="/at",
            begins="the time",
            says=lambda value, _: (
                f"at {value['pointer']} as {value.get('format', TimeFormat.RFC3339.value)}"
                if isinstance(value, Mapping)
                else f"at {value}"
            ),
        ),
        Field(
            name="member",
            sort=Text(),
            label="Member",
            help="Where it is named, every event has a member.",
            example="/member",
            begins="the member",
            says="at {}",
        ),
        Field(name="country", sort=Text(), label="Country", begins="the country", says="at {}"),
        Field(
            name="lat",
            sort=Text(),
            label="Latitude",
            help="In degrees. Its regions are told, and coordinates are never kept.",
            begins="the latitude",
            says="at {}",
        ),
        Field(name="lon", sort=Text(), label="Longitude", begins="the longitude", says="at {}"),
    ]
)

SOURCE_FORM: Final = Form(
    [
        Field(
            name="source",
            sort=Text(pattern=SOURCE_PATTERN),
            label="Name",
            help="Small letters, digits and dashes; it never changes.",
            required=True,
            example="visits",
            begins="The source",
        ),
        Field(
            name="topic",
            sort=Text(listed="topics"),
            label="Topic",
            help="Of Kafka, with JSON messages. Left empty: its events come by HTTP alone.",
            example="store.visits",
            begins="has the messages of",
            says="the topic {}",
        ),
        Field(
            name="substream",
            sort=Flag(),
            label="A large topic, of which followers read a copy",
            help="It never changes.",
            usual="no",
            begins="followers read",
            says=lambda value, _: "a copy of what they ask for" if value else "the topic itself",
        ),
        Field(
            name="senders",
            sort=Rows(Text(listed="partners"), "partner", MAX_SENDERS),
            label="Partners that may post its events",
            help="By their ids.",
            usual="None.",
            begins="may be posted by",
        ),
        Field(
            name="fields",
            sort=_PLACES,
            label="In a message",
            help="Each place is a JSON pointer, such as /city/id; it needs none where there is no topic.",
        ),
        Field(
            name="types",
            sort=Entries(Text(), Entries(Text(pattern=VARIABLE_PATTERN), _VARIABLE, "variable"), "type of event"),
            label="Types that are taken",
            help="Events of other types are passed over.",
            required=True,
            example={"visit.made": {"store_id": "text", "minutes": "integer"}},
            begins="takes",
            says=lambda value, _: "; ".join(f"{type_}{_variables(each)}" for type_, each in value.items()),
        ),
    ],
    panels=[
        ("What it is", ["source"]),
        ("Where events come from", ["topic", "substream", "senders"]),
        ("Where things stand in a message", ["fields"]),
        ("What is taken", ["types"]),
    ],
)


def source_choices(document: Mapping[str, Any], partners: Sequence[str], topics: Sequence[str]) -> Choices:
    """The types that the draft takes, the partners that are not among its senders yet, and topics."""
    types, senders = document.get("types"), document.get("senders")
    there = senders if isinstance(senders, list | tuple) else ()
    lists = {
        "types": map(str, types) if isinstance(types, Mapping) else (),
        "partners": [each for each in partners if each not in there],
        "topics": topics,
    }
    return Choices(lists={name: [Option(each, each) for each in values] for name, values in lists.items()})


def topics_offered(there: Collection[str], sources: Iterable[Source], events_topic: str) -> list[str]:
    """The topics of the broker and of other sources that a source may name: no topic of the broker's own, and none that
    has the events of several sources, or a copy.
    """
    known = {*there, *(each.topic for each in sources if each.topic is not None)} - {events_topic}
    return sorted(each for each in known if not each.startswith((_OF_THE_BROKER, substream_topic("", events_topic))))


def beside_others(document: Mapping[str, Any], published: Sequence[Source]) -> Mapping[str, Any]:
    """A draft that is begun, or copied: under a name that no other source has."""
    taken, name = {*BUILT_IN, *(each.name for each in published)}, str(document["source"])
    while name in taken:
        name = f"{name}-copy"
    return {**document, "source": name}


def _places(value: object) -> str:
    return f"at {' and '.join(map(plain_words, value)) if isinstance(value, list | tuple) else value}"


def _variables(variables: Mapping[str, Any]) -> str:
    told = [
        f"{name} ({each['type']} at {each['pointer']})" if isinstance(each, Mapping) else f"{name} ({each})"
        for name, each in variables.items()
    ]
    return f" with {', '.join(told)}" if told else ""
