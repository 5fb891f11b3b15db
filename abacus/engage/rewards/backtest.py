"""What a reward would have meant for the points of the past: who could have afforded it, and how much of it there would
have been at most. Nothing is done.

It goes day by day. Who can afford a piece on a day on which the reward is there takes as many as limits, stock and
points let it, in the order in which they could; the others of the `share` never take one.
"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from itertools import groupby
from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from abacus.engage.asking.types import Standing
from abacus.engage.rewards.admission import Admission, Asking
from abacus.engage.rewards.decide.past_stock import PastStock, takes
from abacus.engage.rewards.decide.saver import Move, Saver, moved
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.savers import Savers

_PAGE: Final = 1_000
_A_DAY: Final = timedelta(days=1)


class RewardLine(NamedTuple):
    """A day and a tier: the members that could afford a piece for the first time, the pieces that were taken, and the
    points for them.
    """

    day: date
    tier: str
    could: int
    pieces: int
    points: int


class _Judged(NamedTuple):
    """Whether the reward is for a member, and what a piece costs it."""

    holds: bool
    price: int


class RewardBacktest:
    """One reward, over moves in the order of their time. What rules and prices look up is as it is now, but for the
    balance and the tier; `codes` are those of its pool, where it has one. Every method raises `Unavailable`.
    """

    def __init__(
        self, offered: Offered, admission: Admission, savers: Savers, *, codes: int | None, share: int, first: date
    ) -> None:
        self._offered = offered
        self._reward = offered.reward
        self._admission = admission
        self._savers = savers
        self._share = share
        self._stock = PastStock(self._reward, codes)
        price = self._reward.price
        self._least = min((price.points, *price.tiers.values(), *price.segments.values()))
        self._first = first
        self._today: date | None = None
        self._lines: dict[tuple[date, str], list[int]] = {}
        self.read = 0

    def open(self, savers: Sequence[Saver]) -> None:
        """Members with the points that they had when it begins."""
        first = self._first.isoformat()
        self._savers.save([each._replace(waits=first) if each.free >= self._least else each for each in savers])

    async def take(self, moves: Sequence[Move]) -> None:
        self.read += len(moves)
        for day, some in groupby(moves, lambda move: move.at.astimezone(self._reward.zone).date()):
            await self.reach(day)
            await self._taken([*some], day)

    async def reach(self, day: date) -> None:
        """Who waits takes what there is again, on each day until that one."""
        today = self._first - _A_DAY if self._today is None else self._today
        while today < day:
            today += _A_DAY
            self._today = today
            self._stock.begin(today)
            if self._is_there(today):
                await self._again(today)

    def lines(self) -> list[RewardLine]:
        return [RewardLine(*place, *figures) for place, figures in sorted(self._lines.items())]

    @property
    def gone_on(self) -> date | None:
        """The day on which the last piece was taken."""
        return self._stock.gone_on

    async def _taken(self, moves: Sequence[Move], day: date) -> None:
        known = dict(self._savers.of({each.member_id for each in moves}))
        after, asking = dict[str, Saver](), dict[int, Asking]()
        there = self._is_there(day)
        for place, move in enumerate(moves):
            saver = moved(after.get(move.member_id) or known.get(move.member_id) or Saver(move.member_id), move)
            after[move.member_id] = saver
            if there and saver.free >= self._least:
                asking[place] = self._asking(saver, move.at)
        judged = dict(zip(asking, await self._judged([*asking.values()]), strict=True))
        for place, move in enumerate(moves):
            saver = moved(known.get(move.member_id) or Saver(move.member_id), move)
            if place in judged:
                saver = self._offer(saver, judged[place], day)
            elif saver.free >= self._least and not saver.waits:
                saver = saver._replace(waits=day.isoformat())
            known[move.member_id] = saver
        self._savers.save([known[each] for each in after])

    async def _again(self, day: date) -> None:
        """First the members who could afford it before, then those who can since a day on which it was not there."""
        begin = datetime.combine(day, time(), self._reward.zone)
        for could in (True, False):
            last: Saver | None = None
            while not (could and self._stock.gone_today):
                page = self._savers.waiting(could=could, after=last, most=_PAGE)
                if not page:
                    break
                last = page[-1]
                judged = await self._judged([self._asking(each, begin) for each in page])
                self._savers.save([self._offer(each, of, day) for each, of in zip(page, judged, strict=True)])

    def _offer(self, saver: Saver, judged: _Judged, day: date) -> Saver:
        """The member after it took what it can."""
        if saver.free < judged.price:
            return saver._replace(waits="")
        if not judged.holds:
            return saver._replace(waits="", others=True)
        if not saver.could:
            saver = saver._replace(could=True, takes=takes(self._reward, saver.member_id, self._share))
            self._count(day, saver.tier, 1, 0, 0)
        if not saver.takes:
            return saver._replace(waits="")
        saver, pieces = self._stock.give(saver, judged.price)
        if pieces:
            self._count(day, saver.tier, 0, pieces, pieces * judged.price)
        waits = self._stock.would_give(saver, judged.price)
        return saver._replace(waits=(saver.waits or day.isoformat()) if waits else "")

    def _count(self, day: date, tier: str, *more: int) -> None:
        figures = self._lines.setdefault((day, tier), [0, 0, 0])
        for place, each in enumerate(more):
            figures[place] += each

    def _is_there(self, day: date) -> bool:
        return not self._reward.weekdays or day.weekday() in self._reward.weekdays

    def _asking(self, saver: Saver, at: datetime) -> Asking:
        standing = Standing(self._reward.country, saver.tier, saver.free, saver.free)
        return Asking(self._offered, saver.member_id, standing, at)

    async def _judged(self, asking: Sequence[Asking]) -> list[_Judged]:
        holds, prices = await self._admission.holds(asking), await self._admission.pieces(asking)
        if None in holds:
            raise Unavailable("values", f"whether {self._reward.name} is for a member cannot be told now")
        return [_Judged(bool(each), price) for each, price in zip(holds, prices, strict=True)]
