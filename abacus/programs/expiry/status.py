"""The lines of month's ends in the state of things."""

from datetime import datetime
from typing import Final

from abacus.core.status import LATE, Overdue
from abacus.platform.postgres import Pool
from abacus.platform.status import CapabilityStatus
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month
from abacus.programs.expiry.runs import ExpiryRuns
from abacus.programs.expiry.sweep import zones_of


async def _overdue(pool: Pool, now: datetime) -> list[Overdue]:
    runs, late = ExpiryRuns(pool), list[Overdue]()
    for country, zone in zones_of(CardBook(await CardStore(pool).all()), None, now):
        last = Month.last_over(now - LATE, zone)
        months = {*await runs.months_due(country, last), *await runs.unfinished(country)}
        for month in sorted(month for month in months if month <= last):
            run = next((each for each in await runs.all(country, month)), None)
            state = "has not run" if run is None else "began and is not done"
            if run is None or run.finished_at is None:
                late.append(Overdue("expiry run", country, f"{month} {state}", "abacus expiry run --due"))
    return late


STATUS: Final = CapabilityStatus(overdue=_overdue)
