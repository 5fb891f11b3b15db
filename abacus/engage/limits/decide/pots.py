"""The limits that all members share: how much is left in each scope, and what a run takes of it. Pure."""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from abacus.engage.actions.decide.deeds import Award, FixedPoints
from abacus.engage.campaigns.decide.calendar import day_of
from abacus.engage.campaigns.decide.campaign import Campaign, Step
from abacus.engage.campaigns.decide.run import Matched
from abacus.engage.limits.types import NOTHING, Amounts, Bound, Scope

EVER: Final = ""  # the period of the whole life of a campaign


class Pot(NamedTuple):
    """A limit that all members of a campaign share: over its whole life, or over a day."""

    campaign: str
    period: str

    @property
    def scope(self) -> Scope:
        return Scope.DAY if self.period else Scope.OVERALL


def is_exhausted(campaign: Campaign, left: Amounts) -> bool:
    """Whether so little is left over the whole life of the campaign that it can do nothing more."""
    limits, bound = campaign.limits, campaign.limits.overall
    least = min((points_of_step(step) for step in campaign.steps), default=0)
    needs = bound.limited(Amounts(1, least, limits.cost_of(least)))
    return any(need and need > have for need, have in zip(needs, left, strict=True))


def points_of_step(step: Step) -> int:
    """The points that a step gives for sure; at least 1 where they follow from the transaction."""
    worths = [action.deed.worth for action in step.actions if isinstance(action.deed, Award)]
    return sum(worth.points if isinstance(worth, FixedPoints) else 1 for worth in worths)


class Short(Exception):
    """Not enough is left at hand of some pots: for each, what is needed altogether."""

    def __init__(self, needs: dict[Pot, Amounts]) -> None:
        super().__init__(f"short of {', '.join(str(pot) for pot in needs)}")
        self.needs = needs


def pots_of(matched: Matched) -> dict[Pot, Bound]:
    """The pots that a run takes from, with the limit of each."""
    campaign, limits = matched.campaign, matched.campaign.limits
    pots: dict[Pot, Bound] = {}
    if not limits.overall.open:
        pots[Pot(campaign.name, EVER)] = limits.overall
    if not limits.day.open:
        pots[Pot(campaign.name, day_of(campaign, matched.event.occurred_at))] = limits.day
    return pots


class Pots:
    """What is left at hand, as runs take from it. Of the pots in `complete` there is no more than that. What a pot does
    not limit is counted all the same, in case that it will.
    """

    def __init__(self, left: Mapping[Pot, Amounts], complete: Collection[Pot]) -> None:
        self._left = left
        self._complete = complete
        self._bounds: dict[Pot, Bound] = {}
        self.taken: dict[Pot, Amounts] = {}

    def lacking(self, pots: Mapping[Pot, Bound], amounts: Amounts) -> tuple[Pot, str] | None:
        """The first pot that can never give so much, and of what it lacks."""
        for pot, bound in pots.items():
            if pot in self._complete and (what := self._short_of(pot, bound, amounts)) is not None:
                return pot, what
        return None

    def take(self, pots: Mapping[Pot, Bound], amounts: Amounts) -> None:
        for pot, bound in pots.items():
            self._bounds[pot] = bound
            self.taken[pot] = self.taken.get(pot, NOTHING).plus(amounts)

    def needs(self) -> dict[Pot, Amounts]:
        """The pots from which more was taken than is at hand, and how much that is altogether."""
        return {
            pot: bound.limited(self.taken[pot])
            for pot, bound in self._bounds.items()
            if self._short_of(pot, bound, NOTHING) is not None
        }

    def _short_of(self, pot: Pot, bound: Bound, more: Amounts) -> str | None:
        needed = bound.limited(self.taken.get(pot, NOTHING).plus(more))
        for name, need, have in zip(Amounts._fields, needed, self._left.get(pot, NOTHING), strict=True):
            if need and need > have:  # of what is not limited there may be less than nothing
                return name
        return None
