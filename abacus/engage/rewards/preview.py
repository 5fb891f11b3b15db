"""Whether a member can have a reward, be it in force or not, and why not: for people who look. Nothing is taken."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.errors import Refused, SetAside
from abacus.engage.asking.standings import Standings
from abacus.engage.asking.types import Standing
from abacus.engage.rewards.admission import Admission, Asking
from abacus.engage.rewards.decide.draft import looking, wanted_of
from abacus.engage.rewards.decide.price import (
    Lock,
    Locked,
    Quote,
    check_audience,
    check_one,
    closed,
    missing_points,
    piece_price,
    quote,
)
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.decide.reward import ByInvitation, Reward
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.redemption_reader import RedemptionReader
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook

_NO_TIER: Final = ""


class Look(NamedTuple):
    """What is looked at: so many pieces for a member, of which it pays no more than `points` in points."""

    member_id: str
    quantity: int = 1
    points: int | None = None


@dataclass(frozen=True)
class Foreseen:
    """The redemption that a member would open, and everything that is against it. Without `is_told` it cannot be told
    now whether the reward is for the member.
    """

    opened: Redemption
    available: int
    locks: tuple[Locked, ...]
    is_told: bool

    @property
    def can_have(self) -> bool:
        return self.is_told and not self.locks


class RewardPreview:
    """Its method raises `Unavailable`, and `Refused` for a time at which the country has no rate card."""

    def __init__(
        self, pool: Pool, book: Callable[[], CardBook], *, admission: Admission, deliveries: Deliveries
    ) -> None:
        self._reader = RedemptionReader(pool)
        self._book = book
        self._admission = admission
        self._deliveries = deliveries

    async def look(self, offered: Offered, asked: Look, standings: Standings, at: datetime) -> Foreseen:
        """As if the reward were in force at that moment, with what is left of it now."""
        reward = offered.reward
        program = self._program(reward, at)
        standing = standings.get(program)
        if standing is None:
            return _of_nobody(reward, asked, program, at)
        locks = [*closed(reward, standing, at)]
        asking = [Asking(offered, asked.member_id, standing, at)]
        (holds,) = await self._admission.holds(asking)
        if offered.misfit is not None:
            locks.append(Locked(Lock.AUDIENCE, f"its rule does not fit what is published: {offered.misfit}"))
        elif holds is not None:
            locks += _against(lambda: check_audience(reward, holds=holds))
        (piece,) = await self._admission.pieces(asking)
        price = Quote(piece * asked.quantity)
        try:
            price = quote(reward, piece, asked.quantity, asked.points)
        except Locked as lock:
            locks.append(lock)
        locks += missing_points(price.points, standing)
        opened = looking(reward, asked.member_id, asked.quantity, price, program=program, now=at)
        locks += (await self._reader.shelf(asked.member_id, [wanted_of(reward, at)])).lacking(opened, reward.limits)
        locks += await self._uninvitable(reward, asked)
        return Foreseen(opened, standing.available, tuple(locks), is_told=holds is not None or bool(offered.misfit))

    def _program(self, reward: Reward, at: datetime) -> str:
        try:
            return self._book().expected(reward.country, at).card.program
        except SetAside as fault:
            raise Refused(fault.detail) from fault

    async def _uninvitable(self, reward: Reward, asked: Look) -> list[Locked]:
        if not isinstance(reward.delivery, ByInvitation):
            return []
        against = await self._deliveries.against(asked.member_id, [reward.delivery.offer])
        return [*_against(lambda: check_one(reward, asked.quantity)), *against.values()]


def _of_nobody(reward: Reward, asked: Look, program: str, at: datetime) -> Foreseen:
    """For who has no account, or none that is open to who looks: nothing is told that is about this member."""
    standing = Standing(reward.country, _NO_TIER, 0, 0)
    locks = [Locked(Lock.POINTS, f"{asked.member_id} has no account of {program}"), *closed(reward, standing, at)]
    price = Quote(piece_price(reward, _NO_TIER, ()) * asked.quantity)
    opened = looking(reward, asked.member_id, asked.quantity, price, program=program, now=at)
    return Foreseen(opened, standing.available, tuple(locks), is_told=True)


def _against(check: Callable[[], None]) -> Iterator[Locked]:
    try:
        check()
    except Locked as lock:
        yield lock
