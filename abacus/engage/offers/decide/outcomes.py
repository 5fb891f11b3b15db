"""What happens to offers, as it is added up. Pure values."""

from datetime import date
from enum import StrEnum
from typing import NamedTuple, Protocol


class Outcome(StrEnum):
    """What happened. What was reserved and `changed` is redeemed, released, expired, or held."""

    RESERVED = "reserved"
    CHANGED = "changed"  # the basket that was paid saved so much more than was reserved, or less
    REDEEMED = "redeemed"
    RELEASED = "released"
    EXPIRED = "expired"
    ROLLED_BACK = "rolled_back"  # of what was redeemed


class Happened(NamedTuple):
    """An outcome, added up. `points` and `saves` are what it gave; `cost`, in millionths, is what limits count. Limits
    count by `day`, the day of the reservation in the offer's zone. `happened_on` is the day of a redemption or a
    rollback by the country's clock, and else `day`.
    """

    offer: str
    version: int
    day: date
    outcome: Outcome
    happened_on: date
    times: int
    points: int
    saves: int
    cost: int


class Taking(Protocol):
    """A reservation, with what it takes of the limits."""

    @property
    def offer(self) -> str: ...

    @property
    def version(self) -> int: ...

    @property
    def day(self) -> date: ...

    @property
    def points(self) -> int: ...

    @property
    def saves(self) -> int: ...

    @property
    def cost(self) -> int: ...


def happened(to: Taking, outcome: Outcome, on: date | None = None) -> Happened:
    """Once, with all that the reservation takes; on the day of the reservation, where no other is named."""
    return Happened(to.offer, to.version, to.day, outcome, on or to.day, 1, to.points, to.saves, to.cost)
