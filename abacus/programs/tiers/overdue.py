"""Ends of tiers that should have come and did not."""

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Final

from abacus.core.overdue import LATE, Overdue
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement

_OVER: Final = Statement("""
select country, min(until) as until, count(*) as accounts from account_tier
where until < :day group by country
""")


async def overdue_rolls(pool: Pool, now: datetime) -> list[Overdue]:
    """Raises `Unavailable`."""
    day = (now - LATE - timedelta(days=1)).date()
    accounts, until = Counter[str](), dict[str, date]()
    for row in await slices.rows(pool, _OVER(day=day)):
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
