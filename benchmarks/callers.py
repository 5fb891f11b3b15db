"""The partner whose key a benchmark asks with."""

from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY, MOST_REQUESTS_PER_MINUTE, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.platform.postgres import Pool


async def entered_partner(pool: Pool, **rights: bool) -> str:
    """Enters the partner with these rights, and returns its key."""
    key, clock = LIVE_KEY.new(), SystemClock()
    partner = Partner(
        partner_id="acme",
        name="Acme",
        fixed_points=False,
        computed_points=False,
        countries=(),
        card_scope=None,
        requests_per_minute=MOST_REQUESTS_PER_MINUTE,
        signing_secret=None,
        created_at=clock.now(),
        created_by="benchmark",
        disabled_at=None,
    )
    await PartnerStore(pool, clock).create(partner._replace(**rights), Limits(), key)
    return key.text
