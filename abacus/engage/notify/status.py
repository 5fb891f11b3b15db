"""The lines of notifications in the state of things."""

from typing import Final

from abacus.core.clock import Clock
from abacus.core.status import Follows, Problem, Undelivered
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement
from abacus.platform.status import CapabilityStatus

_PARKED: Final = Statement("select count(*) from notification where parked_at is not null")


def told_of(parked: int) -> Undelivered:
    remedy = "abacus notify parked; mend the cause, then: abacus notify resend"
    fault = f"{parked:,} notifications are parked"
    problem = Problem(fault, remedy, about="notifications") if parked else None
    return Undelivered("notifications", f"{parked:,} parked", {"parked": parked}, problem)


async def _undelivered(pool: Pool, _clock: Clock) -> Undelivered:
    return told_of(sum(row["count"] for row in await slices.rows(pool, _PARKED())))


POINTS: Final = Follows("points_topic", "notifier", "notifier")
TIERS: Final = Follows("tiers_topic", "notifier-tiers", "notifier")
STATUS: Final = CapabilityStatus(follows=[POINTS, TIERS], undelivered=_undelivered)
