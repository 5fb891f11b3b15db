"""The lines of tiers in the state of things."""

from collections import Counter
from datetime import date, datetime, timedelta
from typing import Final

from abacus.core.status import LATE, Follows, Overdue
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_OVER: Final = Statement("""
select country, min(until) as until, count(*) as accounts from account_tier
where until < :day group by country
""")


async def _overdue(pool: Pool, now: datetime) -> list[Overdue]:
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


POINTS: Final = Follows("points_topic", "tierkeeper", "tierkeeper")
STATUS: Final = CapabilityStatus(follows=[POINTS], overdue=_overdue)
