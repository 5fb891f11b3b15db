"""The most that is exchanged in a period: of a member, of all, and in money. Pure.

Days and months are those of the programme's zone; an exchange counts in those in which it was asked for.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from abacus.core.errors import Refused
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.position import can_hold
from abacus.exchanges.decide.programme import Caps, Direction, Money, Programme

EVER: Final = ""
UNCOUNTED: Final = (State.QUOTED, State.RELEASED, State.REVERSED, State.DROPPED)
_NONE: Final = Caps()


class Cap(StrEnum):
    """What has no room left."""

    MEMBER_DAY = "member-day"
    MEMBER_MONTH = "member-month"
    DAY = "day"
    EVER = "ever"
    MONEY = "money"


class CapReached(Refused):
    """It would pass a limit."""

    def __init__(self, cap: Cap, detail: str) -> None:
        super().__init__(detail)
        self.cap = cap


class Use(NamedTuple):
    """What a row of `exchange_use` counts: the points of all in a period."""

    owner: str
    direction: str
    period: str


class MemberUse(NamedTuple):
    """What one member exchanged, in the day and the month of a moment."""

    day: int = 0
    month: int = 0


class Periods(NamedTuple):
    """The day and the month of a moment in a zone, with the beginnings of both."""

    day: str
    day_begins: datetime
    month_begins: datetime


def periods(programme_zone: str, at: datetime) -> Periods:
    local = at.astimezone(ZoneInfo(programme_zone))
    day = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return Periods(day.date().isoformat(), day, day.replace(day=1))


def uses_of(exchange: Exchange, zone: str) -> tuple[Use, Use]:
    """The rows in which it counts: of the day on which it was asked for, and of all days."""
    day = periods(zone, exchange.asked_at or exchange.quoted_at).day
    return (
        Use(exchange.programme, exchange.direction, day),
        Use(exchange.programme, exchange.direction, EVER),
    )


class Room:
    """What is left of a programme's limits and money, while exchanges of a batch take their part one after the other.
    Every change is under the lock of the programme's standing.
    """

    def __init__(self, used: Mapping[Use, int], of_members: Mapping[tuple[str, Direction], MemberUse]) -> None:
        self._used = dict(used)
        self._of_members = dict(of_members)

    def check(self, exchange: Exchange, programme: Programme, balance: Decimal, money: Decimal) -> None:
        """Raises `CapReached`."""
        caps = programme.caps.get(exchange.direction, _NONE)
        day, ever = uses_of(exchange, programme.timezone)
        mine = self._of_members.get((exchange.member_id, exchange.direction), MemberUse())
        for cap, most, used in (
            (Cap.MEMBER_DAY, caps.member_day, mine.day),
            (Cap.MEMBER_MONTH, caps.member_month, mine.month),
            (Cap.DAY, caps.day, self._used.get(day, 0)),
            (Cap.EVER, caps.ever, self._used.get(ever, 0)),
        ):
            if most is not None and used + exchange.points > most:
                raise CapReached(cap, f"{exchange.points} points: {_left(cap, most - used)}")
        if exchange.direction is Direction.OUT and not can_hold(programme.money, balance, money):
            raise CapReached(Cap.MONEY, f"{programme.name}: {_money_left(programme.money)}")

    def take(self, exchange: Exchange, programme: Programme) -> None:
        for use in uses_of(exchange, programme.timezone):
            self._used[use] = self._used.get(use, 0) + exchange.points
        owner = (exchange.member_id, exchange.direction)
        mine = self._of_members.get(owner, MemberUse())
        self._of_members[owner] = MemberUse(mine.day + exchange.points, mine.month + exchange.points)

    @property
    def used(self) -> Mapping[Use, int]:
        return self._used


def given_back(exchanges: Iterable[tuple[Exchange, str]]) -> dict[Use, int]:
    """How many points less each row has after these, with the zones of their programmes, were let go."""
    less: dict[Use, int] = {}
    for exchange, zone in exchanges:
        for use in uses_of(exchange, zone):
            less[use] = less.get(use, 0) - exchange.points
    return less


_PERIOD: Final = {
    Cap.MEMBER_DAY: "today",
    Cap.MEMBER_MONTH: "this month",
    Cap.DAY: "of all members today",
    Cap.EVER: "of all members in all",
}


def _left(cap: Cap, points: int) -> str:
    return f"{max(points, 0)} may still be exchanged {_PERIOD[cap]}"


def _money_left(money: Money) -> str:
    return f"nothing more can be exchanged until {money.currency} are paid to the partner"
