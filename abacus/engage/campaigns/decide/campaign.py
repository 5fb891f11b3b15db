"""A campaign: when it runs, the events that it answers to, and what it does at which count. Pure values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, Final, TypeAlias

from abacus.core.fields import EARLIEST
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.documents.decide.version_words import Labels
from abacus.engage.actions.decide.deeds import Action, Award
from abacus.engage.limits.decide.limit_reader import LimitWords
from abacus.engage.limits.types import Limits, OwnerVersion
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.facts.decide.catalog import SEGMENT

OWNER_KIND: Final = "campaign"  # of the limits and actions of campaigns
CONTROL: Final = "control"  # the arm of a split in which nothing is done
LIMIT_WORDS: Final = LimitWords("runs", "budget", "points")
LABELS: Final = Labels("campaign", NAME_PATTERN, "third_order")


class Period(StrEnum):
    """The calendar time over which a member's events are counted, by the days of the campaign's zone."""

    CAMPAIGN = "campaign"  # its whole life, in all versions
    DAY = "day"
    WEEK = "week"  # from Monday on
    MONTH = "month"


# A calendar period, or the length of a window that slides.
Window: TypeAlias = Period | timedelta


@dataclass(frozen=True, slots=True)
class Step:
    """What is done at a count: at the nth event, at every nth, or at each. With `variant` only in that arm of
    the split. The number is the step's place in the document, from 1 on: it stands in keys.
    """

    number: int
    actions: tuple[Action, ...]
    at: int | None = None
    every: int | None = None
    variant: str | None = None

    @property
    def least_points(self) -> int:
        return sum(action.deed.least_points for action in self.actions if isinstance(action.deed, Award))

    def fits(self, count: int, variant: str | None) -> bool:
        """Whether the step is taken at this count, in this arm."""
        if variant == CONTROL or (self.variant is not None and self.variant != variant):
            return False
        if self.at is not None:
            return count == self.at
        return count % (self.every or 1) == 0


@dataclass(frozen=True)
class Campaign(OwnerVersion):
    """A campaign, which never changes once it was submitted: a change is another version. A draft that is nowhere yet
    has the version 0.

    `when` is the document of a rule. `weekdays` are numbered from Monday, 0; `hours` are minutes of the day, each from
    the first up to and without the second. `split` has the share of each arm, in hundredths; a member who comes to as
    many events as the `goal` is a conversion. A campaign that `respects_holdout` does nothing for members whom its
    country holds out.
    """

    name: str
    country: str
    timezone: str
    starts_at: datetime
    ends_at: datetime
    on: tuple[EventType, ...]
    steps: tuple[Step, ...]
    limits: Limits
    over: Window = Period.CAMPAIGN
    when: Mapping[str, object] | None = None
    weekdays: frozenset[int] = frozenset()
    hours: tuple[tuple[int, int], ...] = ()
    split: tuple[tuple[str, int], ...] = ()
    goal: int = 0
    priority: int = 0
    exclusive: str | None = None
    respects_holdout: bool = False
    about: str = ""
    version: int = 0
    approved_at: datetime = EARLIEST

    owner_kind: ClassVar[str] = OWNER_KIND
    __hash__ = OwnerVersion.__hash__

    @cached_property
    def counts(self) -> bool:
        """Whether it matters which of a member's events this one is."""
        return any(step.at is not None or step.every is not None for step in self.steps)

    @cached_property
    def least_points(self) -> int:
        """The points of the step that gives the fewest."""
        return min((step.least_points for step in self.steps), default=0)

    @cached_property
    def remembers(self) -> bool:
        """Whether a rule asks what the member has done in the campaign."""
        return any(side.startswith("campaign.") for side in self._sides())

    @property
    def segments(self) -> list[str]:
        """The segments that its rules ask for."""
        prefix = f"{SEGMENT.name}."
        return sorted({side.removeprefix(prefix) for side in self._sides() if side.startswith(prefix)})

    def numbered(self, version: int) -> "Campaign":
        return replace(self, version=version)

    def _sides(self) -> Iterator[str]:
        """The left sides of all its rules."""
        rules = [self.when, *(rule for step in self.steps for each in step.actions for rule in each.guards)]
        return (side for rule in rules for side in _left_sides(rule))


def _left_sides(rule: object) -> Iterator[str]:
    """The left sides in the document of a rule."""
    if isinstance(rule, Mapping):
        if isinstance(side := rule.get("lhs"), str):
            yield side
        for condition in rule.get("conditions", ()):
            yield from _left_sides(condition)
