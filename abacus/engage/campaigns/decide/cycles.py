"""Campaigns that would set each other off without end: from one follow events to which another listens. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.engage.actions.decide.deeds import Award, Deed, Grant, Granted, Publish
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.rewards.decide.granted import RewardHead
from abacus.signals.events.decide.vocabulary import EventType

EARNED: Final = ("points", "abacus.points.earned.v1")


class Cycle(NamedTuple):
    """What leads from a campaign back to it, with the campaign at both ends. `path` is that of the deed by which it
    begins, in the campaign's document.
    """

    path: str
    stops: Sequence[str]


class _Cause(NamedTuple):
    """A deed from which events follow; `through` is what stands between the campaign and these."""

    path: str
    type: EventType
    through: Sequence[str] = ()


def cycle_through(draft: Campaign, others: Iterable[Campaign], rewards: Mapping[str, RewardHead]) -> Cycle | None:
    """What leads from the draft back to it; None where nothing does. `others` may run beside it."""
    return _Search(draft, others, rewards).back_from(draft)


class _Search:
    def __init__(self, goal: Campaign, others: Iterable[Campaign], rewards: Mapping[str, RewardHead]) -> None:
        self._goal = goal.name
        self._rewards = rewards
        self._seen: set[str] = set()
        self._listeners: dict[EventType, list[Campaign]] = {}
        for each in ({each.name: each for each in others} | {goal.name: goal}).values():
            for type_ in each.on:
                self._listeners.setdefault(type_, []).append(each)

    def back_from(self, campaign: Campaign) -> Cycle | None:
        for cause in self._causes(campaign):
            begins = campaign.name, *cause.through
            for listener in self._listeners.get(cause.type, ()):
                if listener.name == self._goal:
                    return Cycle(cause.path, [*begins, self._goal])
                if listener.name not in self._seen:
                    self._seen.add(listener.name)
                    rest = self.back_from(listener)
                    if rest is not None:
                        return Cycle(cause.path, [*begins, *rest.stops])
        return None

    def _causes(self, campaign: Campaign) -> Iterator[_Cause]:
        for number, step in enumerate(campaign.steps):
            for place, action in enumerate(step.actions):
                yield from self._follows(action.deed, f"steps[{number}].do[{place}]")

    def _follows(self, deed: Deed, path: str) -> Iterator[_Cause]:
        """Points of an award or of a reward are told on the points stream."""
        match deed:
            case Publish(type_):
                yield _Cause(f"{path}.publish", type_)
            case Award():
                yield _Cause(f"{path}.award", EARNED)
            case Grant(Granted.REWARD, name) if (head := self._rewards.get(name)) is not None and head.gives_points:
                yield _Cause(f"{path}.grant.reward", EARNED, [f"the reward {name}"])
