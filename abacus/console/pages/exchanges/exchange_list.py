"""Lists of exchanges. The open ones: how many, since when, and which need a person. The ended ones of a programme: the
newest first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.pages.exchanges.exchange_row import ExchangeRow, row_of
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.exchanges.decide.exchange import ENDED, State
from abacus.exchanges.decide.programme import Direction
from abacus.exchanges.exchange_rows import Place, Which, listed
from abacus.exchanges.open_rows import Narrowing, OpenCount, OpenRows
from abacus.people.types.deed import Deed
from abacus.platform.postgres import passing_failures

_MOST: Final = 50
_STATES: Final = tuple(each for each in State if each is not State.QUOTED)

_NAMES: Final = {State.ASIDE: "set aside", State.TAKEN_BACK: "taken back"}


class Age(StrEnum):
    """How long an exchange is at its state, at the least."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


_AGES: Final = {Age.HOUR: timedelta(hours=1), Age.DAY: timedelta(days=1), Age.WEEK: timedelta(days=7)}


@dataclass(frozen=True, kw_only=True)
class ExchangesPage(Page):
    """A person has to see to the `needy` exchanges: set aside first, then late. The list is of open exchanges, or of
    those of a programme that `have_ended` at the state that is asked for.
    """

    template: ClassVar[str] = "exchanges.html"
    counts: Part[Sequence[OpenCount]]
    needy: Part[Sequence[ExchangeRow]]
    list: Part[Rows[ExchangeRow]]
    states: Sequence[tuple[str, str]]
    directions: Sequence[tuple[str, str]]
    ages: Sequence[tuple[str, str]]
    is_narrow: bool
    have_ended: bool


async def exchanges(call: Call) -> ExchangesPage:
    narrowing, form = _narrowing(call), call.narrowed("programme", "state", "direction", "age")
    rows, have_ended = OpenRows(call.reading.pool), narrowing.state in ENDED
    return ExchangesPage(
        title="Exchanges",
        command="abacus exchanges find",
        counts=await call.part(rows.counts(narrowing.countries, call.now)),
        needy=await call.part(_needy(call, rows, narrowing)),
        list=await call.part(_ended(call, narrowing) if have_ended else _oldest(call, rows, narrowing)),
        states=[
            ("", "any"),
            *((each, "set aside" if each is State.ASIDE else each.replace("-", " ")) for each in _STATES),
        ],
        directions=[("", "both ways"), (Direction.OUT, "out"), (Direction.IN, "in")],
        ages=[("", "any"), *((each, f"a{'n' if each is Age.HOUR else ''} {each} or more") for each in Age)],
        is_narrow=bool(form.typed),
        have_ended=have_ended,
        form=form,
    )


def _narrowing(call: Call) -> Narrowing:
    age = call.chosen("age", Age)
    return Narrowing(
        countries=call.countries(Deed.SEE),
        programme=call.asked("programme"),
        state=call.chosen("state", State),
        direction=call.chosen("direction", Direction),
        before=None if age is None else call.now - _AGES[age],
    )


async def _needy(call: Call, rows: OpenRows, narrowing: Narrowing) -> Sequence[ExchangeRow]:
    return [row_of(each, call.now) for each in await rows.needy(narrowing, _MOST, call.now)]


async def _oldest(call: Call, rows: OpenRows, narrowing: Narrowing) -> Rows[ExchangeRow]:
    found = await rows.oldest(narrowing, _MOST + 1, after=place_of(call, UUID))
    shown = rows_of(call, found, _MOST, lambda each: (each.changed_at, each.exchange_id))
    return Rows([row_of(each, call.now) for each in shown.rows], shown.more)


async def _ended(call: Call, narrowing: Narrowing) -> Rows[ExchangeRow]:
    """Of one programme: an index has each state of it in order. What is of another country has nothing to be seen."""
    if narrowing.programme is None or narrowing.state is None:
        return Rows([])
    pool, which = call.reading.pool, Which(programme=narrowing.programme, states=[narrowing.state])
    place = place_of(call, UUID)
    async with passing_failures():
        found = await listed(pool, _MOST + 1, which, None if place is None else Place(*place))
    shown = rows_of(call, found, _MOST, lambda each: (each.quoted_at, each.exchange_id))
    return Rows([row_of(each, call.now) for each in shown.rows if call.may(Deed.SEE, each.country)], shown.more)
