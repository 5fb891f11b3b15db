"""The jobs that should have run and did not: month's ends, ends of tiers, seals."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final

from abacus.oversight.status.types import Overdue
from abacus.platform import slices
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import ExpiryRuns
from abacus.programs.expiry.sweep import zones_of

_LATE: Final = timedelta(hours=26)  # a daily job has had its time

_TIERS: Final = Statement("""
select country, min(until) as until, count(*) as accounts from account_tier
where until < :day group by country
""")
_SEALED_AT: Final = "select max(sealed_at) from seal"
_POSTED: Final = "select posted_at from transfer order by xid limit 1"


async def overdue(pool: Pool, now: datetime) -> Sequence[Overdue]:
    """Raises `Unavailable`."""
    return [*await _month_ends(pool, now), *await _tiers(pool, now), *await _seals(pool, now)]


async def _month_ends(pool: Pool, now: datetime) -> list[Overdue]:
    runs, late = ExpiryRuns(pool), list[Overdue]()
    for country, zone in zones_of(CardBook(await CardStore(pool).all()), None, now):
        last = Month.last_over(now - _LATE, zone)
        months = {*await runs.months_due(country, last), *await runs.unfinished(country)}
        for month in sorted(month for month in months if month <= last):
            run = next((each for each in await runs.all(country, month)), None)
            state = "has not run" if run is None else "began and is not done"
            if run is None or run.finished_at is None:
                late.append(Overdue("expiry run", country, f"{month} {state}", "abacus expiry run --due"))
    return late


async def _tiers(pool: Pool, now: datetime) -> list[Overdue]:
    day = (now - _LATE - timedelta(days=1)).date()
    accounts, until = Counter[str](), dict[str, date]()
    for row in await slices.rows(pool, _TIERS(day=day)):
        country = row["country"]
        accounts[country] += row["accounts"]
        until[country] = min(row["until"], until.get(country, row["until"]))
    return [
        Overdue(
            "tiers roll",
            country,
            f"{accounts[country]:,} tiers lasted to {until[country]} or later and are still in force",
            "abacus tiers roll --due",
        )
        for country in sorted(accounts)
    ]


async def _seals(pool: Pool, now: datetime) -> list[Overdue]:
    async with passing_failures():
        since = await pool.fetchval(_SEALED_AT) or await _first_posted_at(pool)
    if since is None or now - since <= _LATE:
        return []
    return [Overdue("ledger seal", None, f"nothing is sealed since {since:%Y-%m-%d %H:%M} UTC", "abacus ledger seal")]


async def _first_posted_at(pool: Pool) -> datetime | None:
    async with pool.acquire() as connection:
        moments = await slices.each(connection, lambda: connection.fetchval(_POSTED))
    return min((moment for moment in moments if moment is not None), default=None)
