"""Exchanges that have not ended: how many and since when, which need a person, and all of them by age."""

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
from abacus.exchanges.open_rows import Narrowing, OpenCount, OpenRows
from abacus.people.types.deed import Deed

_MOST: Final = 50
_OPEN: Final = tuple(each for each in State if each not in ENDED and each is not State.QUOTED)

_NAMES: Final = {State.ASIDE: "set aside", State.TAKEN_BACK: "taken back"}


class Age(StrEnum):
    """How long an exchange is at its state, at the least."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"


_AGES: Final = {Age.HOUR: timedelta(hours=1), Age.DAY: timedelta(days=1), Age.WEEK: timedelta(days=7)}


@dataclass(frozen=True, kw_only=True)
class ExchangesPage(Page):
    """A person has to see to the `needy` exchanges: set aside first, then late."""

    template: ClassVar[str] = "exchanges.html"
    counts: Part[Sequence[OpenCount]]
    needy: Part[Sequence[ExchangeRow]]
    list: Part[Rows[ExchangeRow]]
    states: Sequence[tuple[str, str]]
    directions: Sequence[tuple[str, str]]
    ages: Sequence[tuple[str, str]]
    is_narrow: bool


async def exchanges(call: Call) -> ExchangesPage:
    narrowing, form = _narrowing(call), call.narrowed("programme", "state", "direction", "age")
    rows = OpenRows(call.reading.pool)
    return ExchangesPage(
        title="Exchanges",
        command="abacus exchanges find",
        counts=await call.part(rows.counts(narrowing.countries, call.now)),
        needy=await call.part(_needy(call, rows, narrowing)),
        list=await call.part(_oldest(call, rows, narrowing)),
        states=[
            ("", "any"),
            *((each, "set aside" if each is State.ASIDE else each.replace("-", " ")) for each in _OPEN),
        ],
        directions=[("", "both ways"), (Direction.OUT, "out"), (Direction.IN, "in")],
        ages=[("", "any"), *((each, f"a{'n' if each is Age.HOUR else ''} {each} or more") for each in Age)],
        is_narrow=bool(form.typed),
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
