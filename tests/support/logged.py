"""Entries of the log that a test writes beside a change."""

from abacus.core.clock import SystemClock
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, nothing_else
from abacus.pricing.decide.card import RateCard


def logged(subject: str, deed: Deed) -> Also:
    """Somebody changes the subject."""
    return with_entry(nothing_else, entry_of("login:tests", deed, subject, SystemClock().now()))


def limits_logged(partner_id: str, deed: Deed = Deed.EDIT_LIMITS) -> Also:
    """Somebody changes the limits of the partner."""
    return logged(f"partner:{partner_id}", deed)


def tier_logged(member_id: str, program: str, tier: str) -> Also:
    """Somebody sets the member's tier."""
    told = {"did": "set", "program": program, "tier": tier}
    entry = entry_of("login:tests", Deed.SET_TIERS, f"member:{member_id}", SystemClock().now(), **told)
    return with_entry(nothing_else, entry)


def card_logged(card: RateCard) -> Also:
    """Somebody publishes the card."""
    return logged(f"card:{card.scope}", Deed.PUBLISH_RATES)
