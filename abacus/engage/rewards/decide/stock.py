"""What is taken for redemptions of one moment: stock by the limits of their rewards, and codes of pools. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import Final, NamedTuple
from uuid import UUID

from abacus.engage.limits.types import Limits
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.decide.redemption import Redemption

EVER: Final = ""  # the period of the whole life of a reward


class Use(NamedTuple):
    """Pieces of a reward that were taken in a period: ever, or on a day of its zone."""

    reward: str
    period: str


class MemberUse(NamedTuple):
    """The same of a member; without a day, ever."""

    member_id: str
    reward: str
    day: date | None


class Shelf:
    """What was used before, and the free codes of each pool, as redemptions take from them one after the other."""

    def __init__(
        self, used: Mapping[Use, int], by_members: Mapping[MemberUse, int], codes: Mapping[str, Iterable[int]]
    ) -> None:
        self.used = dict(used)
        self._by_members = dict(by_members)
        self._codes = {pool: list(places)[::-1] for pool, places in codes.items()}
        self.given: dict[UUID, list[int]] = {}  # the places of codes, by redemption

    def take(self, each: Redemption, limits: Limits) -> None:
        """All of it or nothing. Raises `Locked` with the first thing that is lacking."""
        for lacking in self.lacking(each, limits):
            raise lacking
        if each.pool is not None:
            free = self._codes[each.pool]
            self.given[each.redemption_id] = [free.pop() for _ in range(each.quantity)]
        for use in uses_of(each):
            self.used[use] = self.used.get(use, 0) + each.quantity
        for by_member in member_uses_of(each):
            self._by_members[by_member] = self._by_members.get(by_member, 0) + each.quantity

    def lacking(self, each: Redemption, limits: Limits) -> Iterator[Locked]:
        """What keeps it from being taken."""
        overall, today = uses_of(each)
        ever, of_day = member_uses_of(each)
        for lock, most, used in (
            (Lock.STOCK, limits.overall.runs, self.used.get(overall, 0)),
            (Lock.DAY, limits.day.runs, self.used.get(today, 0)),
            (Lock.MEMBER, limits.member.runs, self._by_members.get(ever, 0)),
            (Lock.MEMBER_DAY, limits.member_day.runs, self._by_members.get(of_day, 0)),
        ):
            if most is not None and used + each.quantity > most:
                yield Locked(lock, f"{each.reward}: {_WHAT[lock].format(used, most)}")
        if each.pool is not None and (free := len(self._codes.get(each.pool, ()))) < each.quantity:
            yield Locked(Lock.CODES, f"the pool {each.pool} has {free} free codes")


def uses_of(each: Redemption) -> tuple[Use, Use]:
    """Of the whole life of the reward, and of the day."""
    return Use(each.reward, EVER), Use(each.reward, each.day.isoformat())


def member_uses_of(each: Redemption) -> tuple[MemberUse, MemberUse]:
    return MemberUse(each.member_id, each.reward, None), MemberUse(each.member_id, each.reward, each.day)


_WHAT: Final = {
    Lock.STOCK: "{} of {} pieces are gone",
    Lock.DAY: "{} of {} pieces of today are gone",
    Lock.MEMBER: "the member has had {} of {} pieces",
    Lock.MEMBER_DAY: "the member has had {} of {} pieces today",
}
