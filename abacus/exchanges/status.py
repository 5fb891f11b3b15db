"""The line of exchanges in the state of things, and the metrics of what people have to look at."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import LATE as DAY_LATE
from abacus.core.status import Cause, Problem, Undelivered
from abacus.exchanges.books.break_rows import OpenBreaks
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.metrics import BREAKS, FILES_OLDEST, LATE, LOW, OPEN
from abacus.exchanges.programme_store import ProgrammeStore
from abacus.exchanges.timeline import Timelines
from abacus.platform.measuring import set_series
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_OPEN: Final = Statement(f"""
select programme, state, count(*) as exchanges, count(*) filter (where late_at <= :now) as late
from exchange where ended_at is null and state <> '{State.QUOTED}' group by programme, state order by programme, state
""")
_UNANSWERED: Final = """
select programme, min(made_at) as since from exchange_file where answered_at is null group by programme
"""


class OpenExchanges(NamedTuple):
    """Those of a programme that are at a state, and how many of them are late."""

    programme: str
    state: str
    exchanges: int
    late: int


class ExchangeState(NamedTuple):
    """What has not ended. Nothing is sent while `restored_to` is there: the partners' statements since then are to be
    matched. `low`: whether less is left at a partner than its level. `unanswered`: since when a file is not answered.
    """

    open: Sequence[OpenExchanges]
    restored_to: datetime | None = None
    low: Mapping[str, bool] = MappingProxyType({})
    breaks: Sequence[OpenBreaks] = ()
    unanswered: Mapping[str, datetime] = MappingProxyType({})

    def count(self, *states: State) -> int:
        return sum(each.exchanges for each in self.open if each.state in states)

    @property
    def late(self) -> int:
        return sum(each.late for each in self.open)


def told_of(state: ExchangeState, now: datetime) -> Undelivered:
    aside, under_way = state.count(State.ASIDE), sum(each.exchanges for each in state.open)
    breaks = sum(each.breaks for each in state.breaks)
    figures = {
        "exchanges_open": under_way,
        "exchanges_late": state.late,
        "exchanges_aside": aside,
        "exchange_breaks": breaks,
    }
    told = f"{under_way:,} exchanges under way, {state.late:,} late, {aside:,} set aside, {breaks:,} breaks"
    return Undelivered("exchanges", told, figures, _problem(state, aside, now))


def _problem(state: ExchangeState, aside: int, now: datetime) -> Problem | None:
    """The worst."""
    fault = next(_faults(state, aside, now), None)
    return None if fault is None else Problem(*fault, cause=Cause.NEEDS_SOMEBODY, about="exchanges")


def _faults(state: ExchangeState, aside: int, now: datetime) -> Iterator[tuple[str, str]]:
    """Each with what to do."""
    if state.restored_to is not None:
        fault = f"nothing is sent to partners: the house was restored to {state.restored_to.isoformat()}"
        yield fault, "match the partners' statements since then, then abacus exchanges matched"
    if aside:
        fault = f"{aside:,} exchanges do not tie with what their partners say"
        yield fault, "abacus exchanges find --state aside, then settle each"
    if state.late:
        yield (
            f"{state.late:,} exchanges are late at their partners",
            "see that the exchanger runs, then ask the partner",
        )
    if silent := [name for name, since in state.unanswered.items() if since <= now - DAY_LATE]:
        fault = f"files are not answered for more than a day: {', '.join(silent)}"
        yield fault, "abacus exchanges files list, then ask"
    if low := [name for name, is_low in state.low.items() if is_low]:
        yield f"little money is left at partners: {', '.join(low)}", "pay, then abacus exchanges books pay"
    if breaks := sum(each.breaks for each in state.breaks if each.oldest <= now - DAY_LATE):
        yield f"{breaks:,} breaks with partners are open for more than a day", "abacus exchanges breaks list"


async def exchange_state(pool: Pool, clock: Clock) -> ExchangeState:
    """Raises `Unavailable`."""
    desk = BooksDesk(pool, clock)
    async with passing_failures():
        rows = await pool.fetch(*_OPEN(now=clock.now()))
        unanswered = await pool.fetch(_UNANSWERED)
    timeline = await Timelines(pool, clock).read()
    balances = await desk.balances(await ProgrammeStore(pool).in_force(clock.now()))
    return ExchangeState(
        [OpenExchanges(*row) for row in rows],
        None if timeline is None else timeline.restored_to,
        {each.programme: each.is_low for each in balances},
        await desk.still_open(),
        {row["programme"]: row["since"] for row in unanswered},
    )


async def measure(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    state = await exchange_state(pool, clock)
    OPEN.clear()
    late: dict[str, float] = {}
    for each in state.open:
        OPEN.labels(each.programme, each.state).set(each.exchanges)
        late[each.programme] = late.get(each.programme, 0) + each.late
    set_series(LATE, late)
    set_series(LOW, state.low)
    BREAKS.clear()
    for found in state.breaks:
        BREAKS.labels(found.programme, found.kind).set(found.breaks)
    now = clock.now()
    set_series(FILES_OLDEST, {name: (now - since).total_seconds() for name, since in state.unanswered.items()})


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    return told_of(await exchange_state(pool, clock), clock.now())


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
