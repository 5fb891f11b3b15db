"""Tells the story: from its first day to the present, chapter by chapter and day by day."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from abacus.cli.demo.story.chapter import Chapter
from abacus.cli.demo.story.house import House
from abacus.programs.expiry.decide.month import Month

_DAYS: Final = 183
_BEGINS_AT: Final = time(0, 30, tzinfo=UTC)  # morning in all its countries, so that the date is the same everywhere

DayTold = Callable[[date], None]


def first_day(now: datetime) -> date:
    return now.date() - timedelta(days=_DAYS)


def morning(day: date) -> datetime:
    return datetime.combine(day, _BEGINS_AT)


def days_of(first: date, now: datetime) -> list[date]:
    """Every day whose morning has come."""
    return [day for each in range(_DAYS + 1) if morning(day := first + timedelta(days=each)) <= now]


async def tell(house: House, chapters: Sequence[Chapter], days: Sequence[date], told: DayTold) -> None:
    for day in days:
        await house.clock.walk(morning(day))
        if day.day == 1:
            await house.settle()
            for chapter in chapters:
                await chapter.month_ended(Month(day.year, day.month).before)
        for chapter in chapters:
            await chapter.day(day)
        told(day)
    await house.settle()
    await house.clock.walk(datetime.now(UTC))
    for chapter in chapters:
        await chapter.end()
    await house.settle()
