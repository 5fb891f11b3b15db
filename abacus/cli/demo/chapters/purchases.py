"""Rides, meals and shopping of a few hundred members: some come more often, some fall asleep, and some come back."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, auto
from random import Random
from typing import Final, NamedTuple

from abacus.cli.demo.chapters.rates import COUNTRIES
from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.cli.demo.story.house import House
from abacus.cli.examples.stream import COUNTRIES as OF_COUNTRIES
from abacus.cli.examples.stream import PAYMENT_TYPES, SOURCE_OF
from abacus.programs.expiry.decide.month import Month

_MEMBERS: Final = 100  # of each country
_LUNCH: Final = timedelta(hours=3, minutes=40)  # after the morning
_EVENING: Final = timedelta(hours=9, minutes=10)
_TWICE_A_DAY_SINCE: Final = timedelta(days=14)
_WITHIN_S: Final = 0.5  # the transactions of a burst; they come in as soon as they have happened
_LAST_HOUR: Final = 60  # minutes of the present, with a few transactions every five
_EVERY: Final = 5
_SHARE: Final = 0.15
_DUPLICATES: Final = 0.02
_ASLEEP_AFTER: Final = 75  # days
_NEW_AFTER: Final = 110


class Habit(Enum):
    """How a member's months go."""

    STEADY = auto()
    FALLS_ASLEEP = auto()
    COMES_AND_GOES = auto()
    IS_NEW = auto()


class Member(NamedTuple):
    """`often` is how many transactions it has in a burst, on average."""

    member_id: str
    country: str
    habit: Habit
    often: float

    def is_awake(self, number: int, day: date) -> bool:
        """On that day, the story's day of this number."""
        match self.habit:
            case Habit.STEADY:
                return True
            case Habit.FALLS_ASLEEP:
                return number < _ASLEEP_AFTER
            case Habit.COMES_AND_GOES:
                return Month.of(day).number % 4 in {1, 2}  # two months of four
            case Habit.IS_NEW:
                return number >= _NEW_AFTER


def members_of(rng: Random) -> list[Member]:
    named = [("bob", "SG"), ("jane", "ID"), ("eve", "SG")]
    members = [Member(member_id, country, Habit.STEADY, 0.5) for member_id, country in named]
    habits = (*[Habit.STEADY] * 5, *[Habit.FALLS_ASLEEP] * 2, *[Habit.COMES_AND_GOES] * 2, Habit.IS_NEW)
    for country in COUNTRIES:
        for number in range(1, _MEMBERS + 1):
            often = min(rng.expovariate(1 / 0.2), 1.5)
            members.append(Member(f"{country.lower()}-{1000 + number}", country, rng.choice(habits), often))
    return members


class Purchases(Chapter):
    """Once a day, and twice of late."""

    looks = (
        Look("sid", "/members/bob", "six months of one member, day by day: points, why, tier, messages and a hold"),
    )

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.members = members_of(house.rng)
        self._day = 0

    async def day(self, day: date) -> None:
        morning = self.house.clock.now()
        is_late = self.house.today - day < _TWICE_A_DAY_SINCE
        for burst, after in enumerate((_LUNCH, _EVENING) if is_late else (_EVENING,)):
            await self._burst(morning + after, f"{day:%y%m%d}-{burst}")
        if day == self.house.today:
            for minutes in range(_LAST_HOUR, 0, -_EVERY):
                at = datetime.now(UTC) - timedelta(minutes=minutes)
                await self._burst(at, f"{day:%y%m%d}-now-{minutes}", _SHARE)
        self._day += 1

    async def _burst(self, at: datetime, mark: str, share: float = 1.0) -> None:
        """Nothing for a time that the clock has passed, or that is to come."""
        if not self.house.clock.now() <= at <= datetime.now(UTC):
            return
        await self.house.clock.walk(at)
        now = self.house.clock.now()
        who = enumerate(self._who(now.date(), share))
        messages = [self._purchase(member, f"T-{mark}-{number:03}", now) for number, member in who]
        again = [each for each in messages if self.house.rng.random() < _DUPLICATES]
        await self.house.send_transactions(messages + again)

    def _who(self, day: date, share: float) -> Iterator[Member]:
        for member in self.members:
            if member.is_awake(self._day, day) and self.house.rng.random() < member.often * share:
                yield member

    def _purchase(self, member: Member, transaction_id: str, now: datetime) -> tuple[bytes, bytes]:
        rng = self.house.rng
        currency, typical, places, _ = OF_COUNTRIES[member.country]
        vertical = rng.choice(tuple(SOURCE_OF))
        amount = Decimal(typical) * Decimal(rng.randint(20, 400)) / 100
        transaction = {
            "type": "transaction.completed",
            "source": SOURCE_OF[vertical],
            "transaction_id": transaction_id,
            "member_id": member.member_id,
            "country": member.country,
            "vertical": vertical,
            "payment_type": rng.choice(PAYMENT_TYPES),
            "amount": str(amount.quantize(Decimal(1).scaleb(-places))),
            "currency": currency,
            "occurred_at": (now - timedelta(seconds=rng.uniform(0, _WITHIN_S))).isoformat(),
        }
        return member.member_id.encode(), json.dumps(transaction).encode()
