"""What stands at each partner, and where two books differ: what finance looks at first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.exchanges.books.break_rows import FoundBreak
from abacus.exchanges.books.desk import Balance, BooksDesk
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.people.types.deed import Deed


@dataclass(frozen=True, kw_only=True)
class BooksPage(Page):
    """Programmes in force with their balances, and breaks, the newest first."""

    template: ClassVar[str] = "exchange_books.html"
    balances: Part[Sequence[Balance]]
    breaks: Part[Sequence[FoundBreak]]
    closed: bool


async def books(call: Call) -> BooksPage:
    closed = call.asked("closed") is not None
    return BooksPage(
        title="Books with partners",
        command=f"abacus exchanges breaks list{' --closed' if closed else ''}",
        balances=await call.part(_balances(call)),
        breaks=await call.part(_desk(call).breaks(countries=call.countries(Deed.SEE), is_open=not closed)),
        closed=closed,
    )


async def _balances(call: Call) -> Sequence[Balance]:
    in_force = await ProgrammeStore(call.reading.pool).in_force(call.now)
    return await _desk(call).balances([each for each in in_force if call.may(Deed.SEE, each.country)])


def _desk(call: Call) -> BooksDesk:
    return BooksDesk(call.reading.pool, call.premises.clock)
