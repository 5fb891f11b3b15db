"""Campaigns that would set each other off without end: one publishes what another listens to. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from abacus.engage.actions.decide.deeds import Award, Publish
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.signals.events.decide.vocabulary import EventType

EARNED: Final = ("points", "abacus.points.earned.v1")


def cycle_through(draft: Campaign, others: Iterable[Campaign]) -> list[str] | None:
    """The names of campaigns that lead from the draft back to it; None where none do. `others` may run beside it."""
    campaigns = {each.name: each for each in others} | {draft.name: draft}
    listeners: dict[EventType, list[str]] = {}
    for each in campaigns.values():
        for type_ in each.on:
            listeners.setdefault(type_, []).append(each.name)
    return _back_to(draft.name, draft.name, campaigns, listeners, set())


def _back_to(
    goal: str,
    name: str,
    campaigns: Mapping[str, Campaign],
    listeners: Mapping[EventType, Iterable[str]],
    seen: set[str],
) -> list[str] | None:
    for type_ in _published(campaigns[name]):
        for listener in listeners.get(type_, ()):
            if listener == goal:
                return [name, goal]
            if listener not in seen:
                seen.add(listener)
                path = _back_to(goal, listener, campaigns, listeners, seen)
                if path is not None:
                    return [name, *path]
    return None


def _published(campaign: Campaign) -> Iterator[EventType]:
    """The types of the events that follow from what it does: points that are awarded are told on the points stream."""
    for step in campaign.steps:
        for action in step.actions:
            match action.deed:
                case Publish(type_):
                    yield type_
                case Award():
                    yield EARNED
