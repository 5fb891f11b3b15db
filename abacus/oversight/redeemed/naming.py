"""How SQL finds transfers `t` of transactions that name a redemption, and in which order they named it."""

from typing import Final

from abacus.core.ids import REDEMPTIONS
from abacus.ledger.types.kinds import TransferKind
from abacus.pricing.explanation.sql import text

NAMED: Final = text("redemption")

# An award of the redemption itself has its id in the explanation as well.
IS_NAMING: Final = f"t.kind = '{TransferKind.EARN}' and {NAMED} is not null and not starts_with(t.key, '{REDEMPTIONS}')"
IN_ORDER: Final = "t.posted_at, t.program, t.seq"
