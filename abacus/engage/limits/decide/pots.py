"""The limits that all members share: a pot for each, how much is left in it, and what is taken. Pure."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from abacus.engage.limits.types import NOTHING, Amounts, Bound, Bounded, Owner, Scope

EVER: Final = ""  # the period of the whole life of an owner


class Pot(NamedTuple):
    """A limit that all members share: over the whole life of its owner, or over a day."""

    owner_kind: str
    owner: str
    period: str

    @property
    def scope(self) -> Scope:
        return Scope.DAY if self.period else Scope.OVERALL


class Limited(NamedTuple):
    """A limit, and the version of its owner that sets it."""

    bound: Bound
    version: int


class Short(Exception):
    """Not enough is left at hand of some pots: for each, what is needed altogether."""

    def __init__(self, needs: dict[Pot, Amounts]) -> None:
        super().__init__(f"short of {', '.join(str(pot) for pot in needs)}")
        self.needs = needs


def pot_of(owner: Owner) -> Pot:
    """The pot over the whole life of an owner."""
    return Pot(*owner, EVER)


def pots_of(document: Bounded, at: datetime) -> dict[Pot, Bound]:
    """The pots from which a run at this moment takes, with the limit of each."""
    pots: dict[Pot, Bound] = {}
    if not document.limits.overall.open:
        pots[pot_of(document.owner)] = document.limits.overall
    if not document.limits.day.open:
        pots[Pot(*document.owner, at.astimezone(document.zone).date().isoformat())] = document.limits.day
    return pots


def limited_by(document: Bounded, at: datetime) -> dict[Pot, Limited]:
    """The same, with the version that sets each limit."""
    return {pot: Limited(bound, document.version) for pot, bound in pots_of(document, at).items()}


def is_exhausted(document: Bounded, left: Amounts) -> bool:
    """Whether what is left over the whole life of the owner is too little for any run."""
    limits, least = document.limits, document.least_points
    needs = limits.overall.limited(Amounts(1, least, limits.cost_of(least)))
    return any(need and need > have for need, have in zip(needs, left, strict=True))


class AtHand:
    """What is at hand of pots, as runs take from it. A `complete` pot has no more than that. An amount that a pot does
    not limit is counted too, in case that a later version limits it.
    """

    def __init__(self, left: Mapping[Pot, Amounts], complete: Collection[Pot]) -> None:
        self._left = left
        self._complete = complete
        self._bounds: dict[Pot, Bound] = {}
        self.taken: dict[Pot, Amounts] = {}

    def lacking(self, pots: Mapping[Pot, Bound], amounts: Amounts) -> tuple[Pot, str] | None:
        """The first pot that can never give these amounts, and the amount that it lacks."""
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
