"""Messages of one event that contradict each other: the first is the event. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from abacus.signals.events.types import Event


def contradictions(events: Iterable[Event]) -> Mapping[str, Sequence[Event]]:
    """The keys with which events came that are not equal, each with those events in the order in which they came."""
    firsts: dict[str, Event] = {}
    found: dict[str, list[Event]] = {}
    for event in events:
        key = event.key
        first = firsts.setdefault(key, event)
        if first is not event and event not in (some := found.get(key, [first])):
            found[key] = [*some, event]
    return found
