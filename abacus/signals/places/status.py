"""The line of positions in the state of things."""

from datetime import datetime, timedelta
from typing import Final

from abacus.core.status import Overdue
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus
from abacus.signals.places.visit_sweeper import KEPT

_SPARE: Final = timedelta(minutes=30)  # the next process sweeps when it starts
_OLD: Final = Statement("""
select exists (select from member_region where seen_hour < :before and seen_at < :before) as old
""")


async def _overdue(pool: Pool, now: datetime) -> list[Overdue]:
    old = await slices.rows_in_reach(pool, _OLD(before=now - KEPT - _SPARE))
    detail = "visits to regions are kept for more than a day"
    return [Overdue("positions", None, detail, "abacus worker positions")] if any(row["old"] for row in old) else []


STATUS: Final = CapabilityStatus(overdue=_overdue)
