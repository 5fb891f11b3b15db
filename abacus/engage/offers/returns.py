"""What people give back of offers now and then. The processes that take offers free the single codes that were used."""

from uuid import UUID

from abacus.core.clock import Clock
from abacus.engage.offers.codes.code_uses import reopen
from abacus.engage.offers.decide.reservation import Redemption
from abacus.engage.offers.decide.settlement import Releasing, RollingBack, Settlement
from abacus.engage.offers.redemptions import Redemptions
from abacus.platform.postgres import Also, Pool


class OfferReturns:
    """One for each process."""

    def __init__(self, pool: Pool, clock: Clock, redemptions: Redemptions) -> None:
        self._pool = pool
        self._clock = clock
        self._redemptions = redemptions

    async def release(self, order: Releasing) -> Settlement:
        """Releases a reservation. A repetition gets the first answer. Raises `Refused` and `Unavailable`."""
        return await self._redemptions.settle(order)

    async def roll_back(self, order: RollingBack, reservation_id: UUID, *, also: Also | None = None) -> Redemption:
        """Rolls back a redemption, or a part of it, once a key; `also` is done in the same transaction. Raises
        `Refused` and `Unavailable`.
        """
        await reopen(self._pool, reservation_id, self._clock.now())
        return await self._redemptions.roll_back(order, also=also)
