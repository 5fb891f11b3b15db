"""The lines of earning in the state of things."""

from typing import Final

from abacus.core.status import Follows
from abacus.platform.status import CapabilityStatus

TRANSACTIONS: Final = Follows("transactions_topic", "calculator", "calculator")
STATUS: Final = CapabilityStatus(follows=[TRANSACTIONS])
