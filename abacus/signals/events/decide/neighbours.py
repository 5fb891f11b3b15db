"""A source beside the others: several may name one topic, if each takes types of its own. Pure."""

from collections.abc import Iterable, Iterator

from abacus.core.fields import Fault
from abacus.signals.events.decide.places import Always
from abacus.signals.events.decide.source import Source, substream_topic


def faults_beside(draft: Source, others: Iterable[Source], events_topic: str) -> list[Fault]:
    """What keeps the draft from being published beside the others, of which these are the latest versions."""
    faults = []
    if draft.topic == events_topic:
        faults.append(Fault("topic", f"{events_topic} has the events of all sources, in a form of its own"))
    if draft.topic is not None and draft.topic.startswith(substream_topic("", events_topic)):
        faults.append(Fault("topic", f"the topics that begin with {substream_topic('', events_topic)} are sub-streams"))
    for other in sorted(others, key=lambda each: each.name):
        if other.name == draft.name and other.substream != draft.substream:
            faults.append(Fault("substream", "cannot change, or events would count twice; publish another source"))
        if other.name != draft.name and other.topic is not None and other.topic == draft.topic:
            faults += _faults_on_one_topic(draft, other)
    return faults


def _faults_on_one_topic(draft: Source, other: Source) -> Iterator[Fault]:
    if _takes_all(draft) or _takes_all(other):
        all_, one = (draft, other) if _takes_all(draft) else (other, draft)
        yield Fault("topic", f"{all_.name} takes every message of {draft.topic}, so {one.name} cannot take any")
        return
    for type_ in sorted(draft.variables.keys() & other.variables.keys()):
        yield Fault(f"types.{type_}", f"{other.name} takes it from {draft.topic} already")


def _takes_all(source: Source) -> bool:
    return source.places is not None and isinstance(source.places.type, Always)
