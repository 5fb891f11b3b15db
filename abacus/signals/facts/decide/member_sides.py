"""`member.*`: what the ledger and the tiers know of a member. Pure."""

from typing import Final

from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import FixedSides
from abacus.signals.rules.decide.types import Origin

MEMBER: Final = Origin("member", cost=20)
TIER: Final = "member.tier"
BALANCE: Final = "member.balance"
COUNTRY: Final = "member.country"
MEMBER_SIDES: Final = FixedSides(
    MEMBER, {TIER: VariableType.TEXT, BALANCE: VariableType.INTEGER, COUNTRY: VariableType.TEXT}
)
