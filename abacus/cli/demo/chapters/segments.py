"""Segments: early members, changed each month; members near a mart; and members of both."""

from typing import Final

from abacus.cli.demo.story.chapter import Chapter
from abacus.cli.terminal.shell import people_pool
from abacus.programs.expiry.decide.month import Month
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.types import How

EARLY: Final = "early_members"
_NEAR: Final = "near_a_mart"
_BOTH: Final = "early_and_near"
_FIRST: Final = 30
_MORE: Final = 4  # each month


class Segments(Chapter):
    """Cleo loads them, and adds the members of each month."""

    _ended = 0

    async def begin(self) -> None:
        await self._change(EARLY, How.LOAD, range(_FIRST))
        await self._change(_NEAR, How.LOAD, range(0, _FIRST, 3))
        async with people_pool(self.house.settings) as pool:
            desk = SegmentDesk(pool, self.house.clock)
            await desk.combine(EARLY, How.INTERSECT, _NEAR, self.house.people["cleo"], into=_BOTH)

    async def month_ended(self, month: Month) -> None:  # noqa: ARG002  # each month has as many
        first = _FIRST + self._ended * _MORE
        await self._change(EARLY, How.ADD, range(first, first + _MORE))
        self._ended += 1

    async def _change(self, name: str, how: How, which: range) -> None:
        cleo, members = self.house.people["cleo"], [f"sg-{1001 + number}" for number in which]
        async with people_pool(self.house.settings) as pool:
            desk = SegmentDesk(pool, self.house.clock)
            country = await desk.country(name, how, cleo, "SG")
            await desk.change(name, how, await desk.numbers(how, members), cleo, country=country)
