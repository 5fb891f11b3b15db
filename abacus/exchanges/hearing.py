"""What partners say, by whichever carrier, becomes rows: the exchange's next state, its trail, and its points."""

import random
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.heard import Heard
from abacus.exchanges.decide.turn import Act, WrongState, act, trail, turn
from abacus.exchanges.exchange_rows import Step, of_ids, write
from abacus.exchanges.metrics import IN_METRICS, Counting
from abacus.exchanges.settler import BY, Settler, VersionOf
from abacus.platform.postgres import Also, Pool, passing_failures

_SETTLING: Final = frozenset({Act.CAPTURE, Act.RELEASE, Act.GIVE_BACK})
_SPREAD: Final = random.Random()


class Said(NamedTuple):
    """What a partner says of an exchange, which was read before."""

    exchange: Exchange
    heard: Heard


class Hearing:
    """Every method raises `Unavailable`, after which the same is heard again."""

    def __init__(
        self, pool: Pool, settler: Settler, version_of: VersionOf, clock: Clock, *, counting: Counting = IN_METRICS
    ) -> None:
        self._pool = pool
        self._settler = settler
        self._version_of = version_of
        self._clock = clock
        self._counting = counting

    async def heard(self, programme: str, exchange_id: UUID, heard: Heard) -> Exchange | None:
        """What the partner of a programme says by itself; None where the programme has no such exchange."""
        exchange = await self.one(exchange_id)
        if exchange is None or exchange.programme != programme or exchange.state is State.QUOTED:
            return None
        await self.all([Said(exchange, heard)], f"partner:{exchange.partner}")
        return await self.one(exchange_id)

    async def tell(self, heard: Sequence[tuple[UUID, Heard]]) -> None:
        """What the answers of files say."""
        async with passing_failures():
            found = await of_ids(self._pool, [exchange_id for exchange_id, _ in heard])
        some = [Said(found[exchange_id], each) for exchange_id, each in heard if exchange_id in found]
        await self.all([each for each in some if each.exchange.state is not State.QUOTED], BY)

    async def all(self, some: Sequence[Said], by: str) -> None:
        """An exchange that has changed since it was read stays as it is."""
        now, steps = self._clock.now(), list[Step]()
        self._counting.said((exchange.programme, heard) for exchange, heard in some)
        for exchange, heard in some:
            programme = await self._version_of(exchange.programme, exchange.version)
            after = turn(exchange, heard, now, programme, _SPREAD.random())
            told = trail(exchange, after, now, by)
            steps.append(Step(exchange, after, [told] if told else []))
        await self.take(steps)

    async def take(self, steps: Sequence[Step]) -> None:
        """Writes the steps; points that are to be moved by them are moved at once."""
        settling = [each for each in steps if act(each.after) in _SETTLING]
        await self._write(each for each in steps if act(each.after) not in _SETTLING and each.after != each.before)
        if settling:
            settled = {each.exchange_id for each in await self._settler.settle(settling)}
            waiting = (each for each in settling if each.after.exchange_id not in settled)
            await self._write(each for each in waiting if each.after != each.before)

    async def step(self, step: Step, also: Also) -> None:
        """Writes what somebody decided, and what belongs to it. Raises `WrongState` where it has changed meanwhile."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await write(connection, [step]):
                raise WrongState(step.before, "it has changed meanwhile; look again")
            await also(connection)
        self._counting.turned([step.after])

    async def one(self, exchange_id: UUID) -> Exchange | None:
        async with passing_failures():
            return (await of_ids(self._pool, [exchange_id])).get(exchange_id)

    async def _write(self, steps: Iterable[Step]) -> None:
        rows = list(steps)
        if rows:
            async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
                written = await write(connection, rows)
            self._counting.turned(each.after for each in rows if each.after.exchange_id in written and each.turns)
