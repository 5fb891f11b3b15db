"""What the last events were like, for people who write rules and messages. Pure."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import Event, Value

_MEMBERS: Final = 3
_MOST: Final = 5

# The likely values of each variable, by types of events.
SeenValues: TypeAlias = Mapping[EventType, Mapping[str, Sequence[str]]]


def seen_values(events: Iterable[Event]) -> SeenValues:
    """The values that events of at least three members have, the most frequent first. So no id of a person, and
    nothing that one person wrote, is among them.
    """
    members: defaultdict[EventType, defaultdict[str, defaultdict[str, set[str]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(set))
    )
    for event in events:
        if event.member_id is not None:
            for name, value in event.variables.items():
                for text in _texts(value):
                    members[event.source, event.type][name][text].add(event.member_id)
    return {
        type_: {name: likely for name, values in variables.items() if (likely := _likely(values))}
        for type_, variables in members.items()
    }


def newest(events: Iterable[Event], types: Collection[EventType], country: str, most: int) -> list[Event]:
    """The last events of these types that a country's members may have set off, each once."""
    found = {
        each.key: each
        for each in events
        if (each.source, each.type) in types and each.country in {None, country} and each.member_id is not None
    }
    return sorted(found.values(), key=lambda each: (each.occurred_at, each.key), reverse=True)[:most]


def _likely(values: Mapping[str, Collection[str]]) -> list[str]:
    common = [text for text, members in values.items() if len(members) >= _MEMBERS]
    return sorted(common, key=lambda text: (-len(values[text]), text))[:_MOST]


def _texts(value: Value) -> Iterable[str]:
    """As a rule writes them; a time is of one event alone."""
    match value:
        case bool():
            return ()
        case tuple():
            return value
        case str() | int():
            return (str(value),)
        case _:
            return ()
