"""What stands in the way of closing a month, read from one snapshot of the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.exchanges.decide.exchange import UNSETTLED
from abacus.oversight.closing.decide.obstacles import Obstacle, covers
from abacus.oversight.reports.homes import Homes
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.quarantine.store import HELD
from abacus.platform.sql import Statement, columns
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import RUNS, Run
from abacus.proof.decide.seal import Seal

# Points that lapse with a month's end are posted in the next month: a month waits for the ends of the months before it.
_NEVER_RUN: Final = Statement("""
select h.country, count(*) as accounts
from unnest(:countries::text[]) as h (country)
join account a on a.country = h.country and a.expires_on < :first_day and a.balance > a.held
group by h.country
""")
_HELD: Final = Statement("""
select reason, count(*) as items from quarantine
where status = :held and set_aside_at < :until group by reason order by reason
""")
_EXCHANGED: Final = Statement("""
select state, count(*) as exchanges from exchange
where ended_at is null and asked_at < :until and state = any(:unsettled::text[]) group by state order by state
""")
_SEALS: Final = Statement(f"select {columns(Seal)} from seal where sealed_at >= :until order by number")
_LAST_POSTED: Final = Statement("""
select xid::text::bigint from transfer where posted_at < :until order by transfer.xid desc limit 1
""")


class CloseReadiness(NamedTuple):
    """The obstacles, and the first seal that covers the month's end."""

    obstacles: Sequence[Obstacle]
    seal: Seal | None


async def readiness(connection: Connection, where: Homes, month: Month, now: datetime) -> CloseReadiness:
    """Everything but the tie of the books and the ledger's own proof."""
    until = max(where.end(month.last_day), default=now)
    obstacles: list[Obstacle] = []
    if now < until:
        obstacles.append(Obstacle("not-over", f"{month} is over everywhere at {until.isoformat()}"))
    obstacles += await _expiry(connection, where, month)
    if held := await connection.fetch(*_HELD(held=HELD, until=until)):
        counts = ", ".join(f"{items} {reason}" for reason, items in held)
        said = f"{counts} set aside by the month's end; replay them, or they are posted in a later month"
        obstacles.append(Obstacle("quarantine", said))
    if open_ := await connection.fetch(*_EXCHANGED(until=until, unsettled=UNSETTLED)):
        counts = ", ".join(f"{exchanges} {state}" for state, exchanges in open_)
        said = f"{counts} of before the month's end; their points are booked in the month in which they are settled"
        obstacles.append(Obstacle("exchange", said))
    seal = await _seal(connection, until)
    if seal is None:
        obstacles.append(Obstacle("seal", "no seal covers the month's end; `abacus ledger seal` makes one"))
    return CloseReadiness(obstacles, seal)


async def _seal(connection: Connection, until: datetime) -> Seal | None:
    seals = [Seal(*row) for row in await connection.fetch(*_SEALS(until=until))]
    if not seals:
        return None
    posted = _LAST_POSTED(until=until)
    last = await slices.each(connection, lambda: connection.fetchval(*posted, timeout=LONG_S))
    return next((seal for seal in seals if covers(seal.snapshot, last)), None)


async def _expiry(connection: Connection, where: Homes, month: Month) -> list[Obstacle]:
    runs = [Run(*row) for row in await connection.fetch(*RUNS(country=None, month=None))]
    open_runs = [run for run in runs if run.finished_at is None and Month.parse(run.month) < month]
    obstacles = [
        Obstacle("expiry", f"the end of {run.month} in {run.country} is not finished: {run.left} accounts are left")
        for run in open_runs
    ]
    named = {run.country for run in open_runs}
    never = _NEVER_RUN(countries=where.countries, first_day=month.first_day)
    obstacles += [
        Obstacle("expiry", f"{accounts} accounts of {country} lapsed before {month} and are not expired yet")
        for country, accounts in await slices.sums(connection, never, facts=1)
        if country not in named
    ]
    return obstacles
