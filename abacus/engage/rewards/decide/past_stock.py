"""What is left of a reward that is tried on the past, as members take it day by day; and which members do. Pure."""

from datetime import date
from hashlib import blake2b
from typing import Final

from abacus.engage.limits.types import Limits
from abacus.engage.rewards.decide.reward import ByInvitation, Reward
from abacus.engage.rewards.decide.saver import Saver

_WHOLE: Final = 100


def takes(reward: Reward, member_id: str, share: int) -> bool:
    """Whether the member is among that many of a hundred, which are drawn by their ids: the same at every trial."""
    digest = blake2b(f"{reward.name}\x1f{member_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % _WHOLE < share


class PastStock:
    """It begins whole: limits are unused, and as many codes are free as are free now, where codes are given."""

    def __init__(self, reward: Reward, codes: int | None) -> None:
        self._limits: Limits = reward.limits
        self._of_member = 1 if isinstance(reward.delivery, ByInvitation) else reward.limits.member.runs
        self._left = _lower(reward.limits.overall.runs, codes)
        self._left_today = reward.limits.day.runs
        self._day = ""
        self.gone_on: date | None = None

    def begin(self, day: date) -> None:
        self._day, self._left_today = day.isoformat(), self._limits.day.runs

    @property
    def gone_today(self) -> bool:
        return self.gone_on is not None or self._left_today == 0

    def give(self, saver: Saver, price: int) -> tuple[Saver, int]:
        """The member with as many pieces as it can have now, and how many that are."""
        that_day = saver.that_day if saver.day == self._day else 0
        fits = _lower(max(saver.left, 0) // price, self._left, self._left_today)
        fits = _lower(fits, _rest(self._of_member, saver.pieces), _rest(self._limits.member_day.runs, that_day)) or 0
        if not fits:
            return saver, 0
        self._take(fits)
        given = saver._replace(
            left=saver.left - fits * price, pieces=saver.pieces + fits, day=self._day, that_day=that_day + fits
        )
        return given, fits

    def would_give(self, saver: Saver, price: int) -> bool:
        """Whether the member can have more on another day, with the points that it has."""
        return self.gone_on is None and saver.left >= price and _rest(self._of_member, saver.pieces) != 0

    def _take(self, pieces: int) -> None:
        if self._left_today is not None:
            self._left_today -= pieces
        if self._left is not None:
            self._left -= pieces
            if not self._left:
                self.gone_on = date.fromisoformat(self._day)


def _lower(*some: int | None) -> int | None:
    """The lowest of those that are there; None is no limit."""
    return min((each for each in some if each is not None), default=None)


def _rest(most: int | None, used: int) -> int | None:
    return None if most is None else max(most - used, 0)
