"""Where an exchange stands, and what is decided of one: cancelled, undone, settled, reviewed."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import absent
from abacus.core.sources import Agent
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.turn import (
    Act,
    Verdict,
    act,
    approved,
    called_off,
    declined,
    reversible_until,
    reversing,
    settled,
    trail,
)
from abacus.exchanges.exchange_rows import Place, Step, Which, listed, trail_of
from abacus.exchanges.hearing import Hearing
from abacus.exchanges.settler import VersionOf
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures


class Told(NamedTuple):
    """An exchange with its trail, and until when it can be undone."""

    exchange: Exchange
    turns: Sequence[Turn]
    reversible_until: datetime | None


class ExchangeDeeds:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, hearing: Hearing, version_of: VersionOf) -> None:
        self._pool = pool
        self._clock = clock
        self._hearing = hearing
        self._version_of = version_of

    async def one(self, exchange_id: UUID) -> Exchange | None:
        return await self._hearing.one(exchange_id)

    async def told(self, exchange: Exchange) -> Told:
        async with passing_failures():
            turns = await trail_of(self._pool, exchange.exchange_id)
        if exchange.state is not State.CAPTURED:
            return Told(exchange, turns, None)
        until = reversible_until(exchange, await self._version_of(exchange.programme, exchange.version))
        return Told(exchange, turns, until if until is not None and until > self._clock.now() else None)

    async def listed(self, most: int, which: Which, after: Place | None = None) -> list[Exchange]:
        """The newest first, or the next after a place in this order."""
        async with passing_failures():
            return await listed(self._pool, most, which, after)

    async def cancel(self, exchange: Exchange, agent: Agent, *, also: Also = nothing_else) -> Exchange:
        """Before it was sent; `also` is done with it. Raises `WrongState`."""
        if exchange.state in {State.CANCELLED, State.RELEASED}:
            return await self._finished(exchange)
        return await self._step(exchange, called_off(exchange, self._clock.now()), agent, also)

    async def reverse(self, exchange: Exchange, agent: Agent, *, also: Also = nothing_else) -> Exchange:
        """Asks the partner to take it back, as long as it does; `also` is done with it. Raises `WrongState`, and
        `Refused` where the partner does not.
        """
        programme = await self._version_of(exchange.programme, exchange.version)
        return await self._step(exchange, reversing(exchange, self._clock.now(), programme), agent, also)

    async def settle(
        self, exchange: Exchange, verdict: Verdict, why: str, agent: Agent, *, also: Also = nothing_else
    ) -> Exchange:
        """What a person decides of an exchange that was set aside. Raises `WrongState`."""
        return await self._step(exchange, settled(exchange, verdict, self._clock.now(), why), agent, also)

    async def approve(self, exchange: Exchange, by: Agent, *, also: Also = nothing_else) -> Exchange:
        """A second person lets a large one go. Raises `WrongState`."""
        return await self._step(exchange, approved(exchange, self._clock.now(), by.actor), by, also)

    async def decline(self, exchange: Exchange, why: str, by: Agent, *, also: Also = nothing_else) -> Exchange:
        """A second person does not. Raises `WrongState`."""
        return await self._step(exchange, declined(exchange, self._clock.now(), why), by, also)

    async def _step(self, before: Exchange, after: Exchange, agent: Agent, also: Also) -> Exchange:
        """Points that are to be moved by it are moved at once, as far as the ledger can be reached."""
        told = trail(before, after, self._clock.now(), agent.source)
        if told is not None:
            await self._hearing.step(Step(before, after, [told]), also)
        return await self._finished(after)

    async def _finished(self, exchange: Exchange) -> Exchange:
        """Raises `Absent`."""
        if act(exchange) in {Act.CAPTURE, Act.RELEASE, Act.GIVE_BACK}:
            await self._hearing.take([Step(exchange, exchange)])
        found = await self._hearing.one(exchange.exchange_id)
        if found is None:
            raise absent("exchange", exchange.exchange_id)
        return found
