"""Points that acme holds for a table: captured, captured in part, released, or let go by the time; some are open."""

import asyncio
from datetime import date, timedelta
from typing import Final

import httpx

from abacus.cli.demo.chapters.partner import at_the_api
from abacus.cli.demo.counter import asked
from abacus.cli.demo.story.chapter import Chapter

_ON: Final = 4  # the weekday
_TABLES: Final = 4
_MEMBERS: Final = 60
_APART: Final = 17
_DINNER: Final = timedelta(hours=3)
_A_DAY_AND_MORE: Final = timedelta(days=2)
_OPEN: Final = ("bob", "eve")


class Holds(Chapter):
    """Each week a few, and two at the end."""

    async def day(self, day: date) -> None:
        if day.weekday() != _ON:
            return
        async with at_the_api(self.house) as acme:
            await asyncio.gather(*(self._table(acme, day, number) for number in range(_TABLES)))

    async def end(self) -> None:
        async with at_the_api(self.house) as acme:
            for member in _OPEN:
                await self._hold(acme, member, "open", _A_DAY_AND_MORE)

    async def _table(self, acme: httpx.AsyncClient, day: date, number: int) -> None:
        member = f"sg-{1001 + (day.toordinal() + number * _APART) % _MEMBERS}"
        hold = await self._hold(acme, member, f"{day}-{number}", _DINNER)
        path = f"/v1/members/{member}/holds/{hold}"
        match number:
            case 0 if hold:
                await asked(acme, f"{path}/capture")
            case 1 if hold:
                await asked(acme, f"{path}/capture", {"points": 30})
            case 2 if hold:
                await asked(acme, f"{path}/release")

    async def _hold(self, acme: httpx.AsyncClient, member: str, mark: str, span: timedelta) -> str | None:
        """Its id; None where the member has too few points."""
        order = {"points": 80, "reason": "A table for two", "expires_in": int(span.total_seconds())}
        answer = await asked(acme, f"/v1/members/{member}/holds", order, key=f"table-{mark}-{member}")
        held: str | None = answer.json().get("hold_id")
        return held
