"""The line of exchanges in the state of things, and the metrics of what people have to look at."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.status import Cause, Problem, Undelivered
from abacus.exchanges.decide.exchange import State
from abacus.exchanges.metrics import LATE, OPEN
from abacus.exchanges.timeline import Timelines
from abacus.platform.measuring import set_series
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_OPEN: Final = Statement(f"""
select programme, state, count(*) as exchanges, count(*) filter (where late_at <= :now) as late
from exchange where ended_at is null and state <> '{State.QUOTED}' group by programme, state order by programme, state
""")


class OpenExchanges(NamedTuple):
    """Those of a programme that are at a state, and how many of them are late."""

    programme: str
    state: str
    exchanges: int
    late: int


class ExchangeState(NamedTuple):
    """What has not ended, and since when the partners' statements are to be matched before anything is sent."""

    open: Sequence[OpenExchanges]
    restored_to: datetime | None

    def count(self, *states: State) -> int:
        return sum(each.exchanges for each in self.open if each.state in states)

    @property
    def late(self) -> int:
        return sum(each.late for each in self.open)


def told_of(state: ExchangeState) -> Undelivered:
    aside, under_way = state.count(State.ASIDE), sum(each.exchanges for each in state.open)
    figures = {"exchanges_open": under_way, "exchanges_late": state.late, "exchanges_aside": aside}
    told = f"{under_way:,} exchanges under way, {state.late:,} late, {aside:,} set aside"
    return Undelivered("exchanges", told, figures, _problem(state, aside))


def _problem(state: ExchangeState, aside: int) -> Problem | None:
    about = "exchanges"
    if state.restored_to is not None:
        return Problem(
            f"nothing is sent to partners: the house was restored to {state.restored_to.isoformat()}",
            "match the partners' statements since then, then abacus exchanges matched",
            cause=Cause.NEEDS_SOMEBODY,
            about=about,
        )
    if aside:
        fault = f"{aside:,} exchanges do not tie with what their partners say"
        return Problem(
            fault, "abacus exchanges find --state aside, then settle each", cause=Cause.NEEDS_SOMEBODY, about=about
        )
    if state.late:
        fault = f"{state.late:,} exchanges are late at their partners"
        return Problem(
            fault, "see that the exchanger runs, then ask the partner", cause=Cause.NEEDS_SOMEBODY, about=about
        )
    return None


async def exchange_state(pool: Pool, clock: Clock) -> ExchangeState:
    """Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_OPEN(now=clock.now()))
    timeline = await Timelines(pool, clock).read()
    return ExchangeState([OpenExchanges(*row) for row in rows], None if timeline is None else timeline.restored_to)


async def measure(pool: Pool, clock: Clock) -> None:
    """Raises `Unavailable`."""
    state = await exchange_state(pool, clock)
    OPEN.clear()
    late: dict[str, float] = {}
    for each in state.open:
        OPEN.labels(each.programme, each.state).set(each.exchanges)
        late[each.programme] = late.get(each.programme, 0) + each.late
    set_series(LATE, late)


async def _undelivered(pool: Pool, clock: Clock) -> Undelivered:
    return told_of(await exchange_state(pool, clock))


STATUS: Final = CapabilityStatus(undelivered=_undelivered)
