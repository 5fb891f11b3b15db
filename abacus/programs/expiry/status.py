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
    done = await runs.done()
    for country, zone in zones_of(CardBook(await CardStore(pool).all()), None, now):
        last = Month.last_over(now - LATE, zone)
        begun = [month for of, month in done if of == country]
        for month in sorted({*begun, *await runs.months_due(country, last)}):
            is_done = done.get((country, month))
            if month <= last and not is_done:
                state = "has not run" if is_done is None else "began and is not done"
                late.append(Overdue("expiry run", country, f"{month} {state}", "abacus expiry run --due"))
    return late


STATUS: Final = CapabilityStatus(overdue=_overdue)
