"""The partner whose key a benchmark asks with."""

from abacus.core.clock import SystemClock
from abacus.intake.partners.decide.partner import LIVE_KEY, MOST_REQUESTS_PER_MINUTE, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.platform.postgres import Pool


async def entered_partner(
    pool: Pool, *, awards: bool = False, may_spend: bool = False, may_count: bool = False, may_use_offers: bool = False
) -> str:
    """Enters the partner with these rights, and returns its key."""
    key, clock = LIVE_KEY.new(), SystemClock()
    partner = Partner(
        partner_id="acme",
        name="Acme",
        fixed_points=awards,
        computed_points=awards,
        countries=(),
        card_scope=None,
        requests_per_minute=MOST_REQUESTS_PER_MINUTE,
        signing_secret=None,
        created_at=clock.now(),
        created_by="benchmark",
        disabled_at=None,
        may_spend=may_spend,
        may_count=may_count,
        may_use_offers=may_use_offers,
    )
    await PartnerStore(pool, clock).create(partner, Limits(), key)
    return key.text
