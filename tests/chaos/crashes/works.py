"""Every piece of work, in the order in which they are tried: a worker's together, so that the others seldom change."""

from typing import Final

from tests.chaos.crashes.earning_works import Retries, Stream, StreamWithoutTiers
from tests.chaos.crashes.ledger_works import Awards, BlockedAwards, Expiries, Refunds, Transfers
from tests.chaos.crashes.work import Work

WORKS: Final[tuple[type[Work], ...]] = (
    Stream,
    StreamWithoutTiers,
    Retries,
    Awards,
    Refunds,
    BlockedAwards,
    Expiries,
    Transfers,
)
