"""Backfills of rides: what was there before the counter of fares began, and the command that counts it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from abacus.platform.settings import Settings
from abacus.signals.counters.decide.definition import Definition
from tests.signals.counters.counting import CountingHouse
from tests.signals.counters.rides import FARES_OF_CITY, RIDES_OF_MEMBER, Ride, Sums
from tests.support.commands import Ran, abacus

LONG_AGO: Final = "2026-01-01T00:00:00Z"
EVERYWHERE: Final = 8  # partitions: four of the topic of rides, and four of that of all events


def environment(counting: CountingHouse, settings: Settings | None = None) -> dict[str, str]:
    """The settings of the house, or others, as a command reads them."""
    house = counting.house
    return {
        name: value
        for name, value in (house if settings is None else replace(house, settings=settings)).environment().items()
        if name.startswith("ABACUS_")
    }


async def backfill(counting: CountingHouse, *arguments: str, settings: Settings | None = None) -> Ran:
    return await abacus("counters", "backfill", *arguments, env=environment(counting, settings))


async def published_behind(counting: CountingHouse, sent: Sequence[Ride | bytes]) -> list[Definition]:
    """The counter of fares, which begins behind these rides, because another counter was there before."""
    await counting.publish(RIDES_OF_MEMBER)
    await counting.send(sent)
    return await begun_behind(counting, len(sent))


async def begun_behind(counting: CountingHouse, seen: int) -> list[Definition]:
    """The counter of fares, which begins when the other counter has seen so many rides."""
    async with counting.house.running("counter"):
        await counting.seen(seen)
        late = await counting.publish(FARES_OF_CITY)
        await counting.begun(late[0], EVERYWHERE)
    return late


async def fares(counting: CountingHouse) -> Sums:
    """What is stored for the counter of fares."""
    return {place: units for place, units in (await counting.sums()).items() if place[0].startswith("2.")}
