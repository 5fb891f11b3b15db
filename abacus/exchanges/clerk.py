"""What people of the house do with exchanges: they look for them, and decide what was set aside. The exchanger moves
the points then.
"""

from collections.abc import Sequence
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import absent
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.turn import Verdict, WrongState, settled, trail
from abacus.exchanges.exchange_rows import Step, listed, of_ids, trail_of, write
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures


class ExchangeClerk:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def one(self, exchange_id: UUID) -> Exchange:
        """Raises `Absent`."""
        async with passing_failures():
            found = (await of_ids(self._pool, [exchange_id])).get(exchange_id)
        if found is None:
            raise absent("exchange", exchange_id, "`abacus exchanges find` prints them")
        return found

    async def trail(self, exchange: Exchange) -> Sequence[Turn]:
        async with passing_failures():
            return await trail_of(self._pool, exchange.exchange_id)

    async def find(
        self, most: int, *, member_id: str | None, programme: str | None, state: State | None
    ) -> Sequence[Exchange]:
        """The newest first."""
        states = None if state is None else [state]
        async with passing_failures():
            return await listed(self._pool, most, member_id=member_id, programme=programme, states=states)

    async def settle(
        self, exchange: Exchange, verdict: Verdict, why: str, by: str, *, also: Also = nothing_else
    ) -> Exchange:
        """Decides what was set aside; `also` is done with it. Raises `WrongState`."""
        now = self._clock.now()
        after = settled(exchange, verdict, now, why)
        told = trail(exchange, after, now, by)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await write(connection, [Step(exchange, after, [told] if told else [])]):
                raise WrongState(exchange, "it has changed meanwhile; look again")
            await also(connection)
        return after
