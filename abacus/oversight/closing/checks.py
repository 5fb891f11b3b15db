"""What stands in the way of closing a month, read from one snapshot of the database."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.oversight.closing.decide.obstacles import Obstacle
from abacus.oversight.reports.homes import Homes
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
group by h.country order by h.country
""")
_HELD: Final = Statement("""
select reason, count(*) as items from quarantine
where status = :held and set_aside_at < :until group by reason order by reason
""")
_SEAL: Final = Statement(f"""
select {columns(Seal, "s")} from seal s
where s.sealed_at >= :until and not exists (
    select from transfer t where t.posted_at < :until and t.xid >= split_part(s.snapshot, ':', 1)::xid8)
order by s.number limit 1
""")


class Standing(NamedTuple):
    """The obstacles, and the first seal that covers the month's end."""

    obstacles: Sequence[Obstacle]
    seal: Seal | None


async def standing(connection: Connection, where: Homes, month: Month, now: datetime) -> Standing:
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
    row = await connection.fetchrow(*_SEAL(until=until), timeout=LONG_S)
    if row is None:
        obstacles.append(Obstacle("seal", "no seal covers the month's end; `abacus ledger seal` makes one"))
    return Standing(obstacles, Seal(*row) if row else None)


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
        for country, accounts in await connection.fetch(*never, timeout=LONG_S)
        if country not in named
    ]
    return obstacles
