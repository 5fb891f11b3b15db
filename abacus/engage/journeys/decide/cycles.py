"""Journeys that would start each other without end. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from abacus.engage.actions.decide.deeds import Award, Deed, Grant, Granted, Publish
from abacus.engage.campaigns.decide.cycles import EARNED
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import Do, End, Start
from abacus.engage.rewards.decide.granted import RewardHead
from abacus.signals.events.decide.vocabulary import EventType


class Cycle(NamedTuple):
    """What leads from a journey back to it, with the journey at both ends. `node` is that by which it begins."""

    node: str
    stops: Sequence[str]


class _Hop(NamedTuple):
    """From a journey to another, which members enter by the deed of a node."""

    journey: str
    node: str
    to: str


def cycle_through(draft: Journey, others: Iterable[Journey], rewards: Mapping[str, RewardHead]) -> Cycle | None:
    """What leads from the draft back to it: one journey starts the other, or does what lets members enter it. None
    where nothing does. `others` may run beside it.
    """
    journeys = {each.name: each for each in others} | {draft.name: draft}
    listeners: dict[EventType, list[str]] = {}
    for each in journeys.values():
        for type_ in each.entry.on:
            listeners.setdefault(type_, []).append(each.name)
    before: dict[str, _Hop] = {}
    waiting = [draft.name]
    for name in waiting:
        for hop in _hops(journeys[name], listeners, rewards):
            if hop.to in journeys and hop.to not in before:
                before[hop.to] = hop
                waiting.append(hop.to)
    return _back(draft.name, before) if draft.name in before else None


def _back(name: str, before: Mapping[str, _Hop]) -> Cycle:
    hop = before[name]
    stops = [name]
    while hop.journey != name:
        stops.insert(0, hop.journey)
        hop = before[hop.journey]
    return Cycle(hop.node, [name, *stops])


def _hops(
    journey: Journey, listeners: Mapping[EventType, Iterable[str]], rewards: Mapping[str, RewardHead]
) -> Iterator[_Hop]:
    for node in journey.nodes.values():
        if isinstance(node.part, Do):
            for following in _entered(node.part.deed, listeners, rewards):
                yield _Hop(journey.name, node.name, following)


def _entered(
    deed: Deed | Start | End, listeners: Mapping[EventType, Iterable[str]], rewards: Mapping[str, RewardHead]
) -> Iterable[str]:
    """The journeys that members enter by a deed. Points of an award or of a reward are told on the points
    stream.
    """
    match deed:
        case Start(name):
            return [name]
        case Publish(type_):
            return listeners.get(type_, ())
        case Award():
            return listeners.get(EARNED, ())
        case Grant(Granted.REWARD, name) if (head := rewards.get(name)) is not None and head.gives_points:
            return listeners.get(EARNED, ())
        case _:
            return ()
