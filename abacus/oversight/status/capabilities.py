"""The capabilities that have lines in the state of things, and these lines."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.core.clock import Clock
from abacus.core.status import LATE, Overdue, Undelivered
from abacus.engage.journeys.status import STATUS as JOURNEYS
from abacus.engage.notify.status import STATUS as NOTIFY
from abacus.engage.offers.codes.status import STATUS as CODES
from abacus.engage.offers.status import STATUS as OFFERS
from abacus.engage.rewards.status import STATUS as REWARDS
from abacus.exchanges.status import STATUS as EXCHANGES
from abacus.intake.earning.status import STATUS as EARNING
from abacus.intake.partners.webhooks.status import STATUS as WEBHOOKS
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.status import CapabilityStatus
from abacus.programs.expiry.status import STATUS as EXPIRY
from abacus.programs.tiers.status import STATUS as TIERS
from abacus.proof.status import STATUS as PROOF
from abacus.signals.places.status import STATUS as PLACES

# A capability whose state people look at takes its place here.
CAPABILITIES: Final[Sequence[CapabilityStatus]] = (
    *(EARNING, EXPIRY, TIERS, PROOF, WEBHOOKS, NOTIFY),
    *(OFFERS, CODES, REWARDS, EXCHANGES, JOURNEYS, PLACES),
)


_BEGAN: Final = "select min(at) from audit_log"


async def overdue(pool: Pool, now: datetime) -> Sequence[Overdue]:
    """None in a house whose log began so lately that no daily job has had its time. Raises `Unavailable`."""
    async with passing_failures():
        began = await pool.fetchval(_BEGAN)
    if began is not None and began <= now <= began + LATE:
        return []
    jobs = [each.overdue for each in CAPABILITIES if each.overdue is not None]
    return [late for job in jobs for late in await job(pool, now)]


async def undelivered(pool: Pool, clock: Clock) -> Sequence[Undelivered]:
    """What waits, in the order of the kinds. Raises `Unavailable`."""
    outboxes = [each.undelivered for each in CAPABILITIES if each.undelivered is not None]
    return sorted([await outbox(pool, clock) for outbox in outboxes], key=lambda each: each.kind)


def figures_of(left: Sequence[Undelivered]) -> Mapping[str, int | datetime | None]:
    """The figures of all kinds together."""
    return {name: figure for each in left for name, figure in each.figures.items()}
