"""On the first page: exchanges that need a person, breaks that are open, and partners where little money is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.exchanges.books.desk import Balance, BooksDesk
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.open_rows import OpenRows
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role

_MOST_BREAKS: Final = 100


@dataclass(frozen=True)
class NeedsPeople:
    """How many exchanges were set aside, are late, and wait for a second person; breaks that nobody has closed; and
    balances below their level.
    """

    aside: int
    late: int
    review: int
    breaks: int
    are_more: bool  # breaks
    low: Sequence[Balance]


async def _needed(call: Call) -> NeedsPeople | None:
    if not (call.may_somewhere(Deed.MOVE_POINTS) or call.may_somewhere(Deed.CLOSE_BOOKS)):
        return None
    countries, pool = call.countries(Deed.SEE), call.reading.pool
    in_force = [each for each in await ProgrammeStore(pool).in_force(call.now) if call.may(Deed.SEE, each.country)]
    desk, counts = BooksDesk(pool, call.premises.clock), await OpenRows(pool).counts(countries, call.now)
    breaks = await desk.breaks(countries=countries, limit=_MOST_BREAKS + 1)
    low = [each for each in await desk.balances(in_force) if each.is_low]
    if not (in_force or counts or breaks):
        return None
    return NeedsPeople(
        aside=sum(each.exchanges for each in counts if each.state == State.ASIDE),
        late=sum(each.late for each in counts),
        review=sum(each.exchanges for each in counts if each.state == State.REVIEW),
        breaks=min(len(breaks), _MOST_BREAKS),
        are_more=len(breaks) > _MOST_BREAKS,
        low=low,
    )


def _to_see_to(it: NeedsPeople) -> str | None:
    if not it.aside:
        return None
    return f"{it.aside:,} {'exchange is' if it.aside == 1 else 'exchanges are'} set aside"


CARD: Final = HomeCard(
    "exchanges",
    "Exchanges with partners",
    "home/exchanges.html",
    _needed,
    {Role.FINANCE: 3, Role.SUPPORT: 3},
    waits=_to_see_to,
)
