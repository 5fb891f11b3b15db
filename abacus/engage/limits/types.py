"""How much an owner may do: runs, points and money, for all members and for each, ever and in a day. Pure values."""

from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, Final, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from abacus.documents.decide.term_version import TermVersion

MICROS: Final = 1_000_000  # of a unit of the currency: money is counted in these
UNCOUNTED_FROM: Final = 100_000  # runs of a member: nobody reaches that, so it costs nothing to keep it


class Owner(NamedTuple):
    """The document that sets limits: its kind, such as `campaign`, and its name."""

    kind: str
    name: str


class OwnerVersion(TermVersion):
    """A version whose document, in all its versions, is the owner of limits and actions."""

    owner_kind: ClassVar[str]

    @cached_property
    def owner(self) -> Owner:
        return Owner(self.owner_kind, self.name)


class Scope(StrEnum):
    """What a limit is counted over. Days are those of the owner's zone."""

    OVERALL = "overall"
    DAY = "day"
    MEMBER = "member"
    MEMBER_DAY = "member_day"


class Amounts(NamedTuple):
    """What was done, or is to be done. `cost` is money, in millionths."""

    runs: int = 0
    points: int = 0
    cost: int = 0

    def plus(self, other: "Amounts") -> "Amounts":
        return Amounts(self.runs + other.runs, self.points + other.points, self.cost + other.cost)

    def at_least(self, other: "Amounts") -> "Amounts":
        return Amounts(*map(max, self, other))

    def minus(self, other: "Amounts") -> "Amounts":
        return Amounts(self.runs - other.runs, self.points - other.points, self.cost - other.cost)


NOTHING: Final = Amounts()


class Bound(NamedTuple):
    """The most of each; None where there is no limit."""

    runs: int | None = None
    points: int | None = None
    cost: int | None = None

    @property
    def open(self) -> bool:
        """Whether it limits nothing."""
        return self.runs is None and self.points is None and self.cost is None

    def limited(self, amounts: Amounts) -> Amounts:
        """The amounts that are limited at all; 0 of the others."""
        return Amounts(
            0 if self.runs is None else amounts.runs,
            0 if self.points is None else amounts.points,
            0 if self.cost is None else amounts.cost,
        )

    def short_of(self, used: Amounts, more: Amounts) -> str | None:
        """The first amount that would pass its limit with that much more; None where all fit."""
        for name, most, have, add in zip(self._fields, self, used, more, strict=True):
            if most is not None and add and have + add > most:
                return name
        return None


UNBOUND: Final = Bound()


class Limits(NamedTuple):
    """The limits of an owner. Points cost `cost_of_point` each, in the currency of the country's card."""

    overall: Bound = UNBOUND
    day: Bound = UNBOUND
    member: Bound = UNBOUND
    member_day: Bound = UNBOUND
    cost_of_point: Decimal = Decimal(0)

    def of(self, scope: Scope) -> Bound:
        match scope:
            case Scope.OVERALL:
                return self.overall
            case Scope.DAY:
                return self.day
            case Scope.MEMBER:
                return self.member
            case Scope.MEMBER_DAY:
                return self.member_day

    @property
    def unlimited(self) -> bool:
        return all(self.of(scope).open for scope in Scope)

    def cost_of(self, points: int) -> int:
        """The cost of these points, in millionths, rounded up: a budget is never passed by fractions."""
        micros = self.cost_of_point * MICROS * points
        whole = int(micros)
        return whole if whole == micros else whole + 1

    def uncounted_from(self, runs: int) -> "Limits":
        """The limits without a member's limits of this many runs or more, which nobody reaches."""
        return self._replace(member=_reached(self.member, runs), member_day=_reached(self.member_day, runs))


def _reached(bound: Bound, runs: int) -> Bound:
    return bound._replace(runs=None) if bound.runs is not None and bound.runs >= runs else bound


class Bounded(Protocol):
    """A version of an owner's document, with its limits. A run gives at least `least_points`."""

    @property
    def owner(self) -> Owner: ...

    @property
    def version(self) -> int: ...

    @property
    def zone(self) -> ZoneInfo: ...

    @property
    def limits(self) -> Limits: ...

    @property
    def least_points(self) -> int: ...
