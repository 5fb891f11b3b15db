"""Awards what partners have committed, and drops what they have left.

An award goes through the award queue under the key of its exchange, again and again until the ledger has it.
"""

import random
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Final, Protocol

from abacus.core.clock import Clock
from abacus.exchanges.decide.exchange import Exchange, State, award_key
from abacus.exchanges.decide.inbound import awarded, left
from abacus.exchanges.decide.movements import award_of
from abacus.exchanges.decide.turn import later, pause
from abacus.exchanges.inbound_rows import InboundRows
from abacus.exchanges.settler import BY, VersionOf
from abacus.ledger.types.award_envelope import encode_award
from abacus.platform.sqs.packer import pack_compressed
from abacus.pricing.decide.book import CardBook

# The keys among these that the ledger has. Raises `Unavailable`.
Posted = Callable[[Collection[str]], Awaitable[Collection[str]]]

_SPREAD: Final = random.Random()


class Awards(Protocol):
    """Where awards are sent, to be posted. Raises `Unavailable`."""

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None: ...


class Incoming:
    """Any number of processes share the work."""

    def __init__(
        self,
        rows: InboundRows,
        awards: Awards,
        posted: Posted,
        version_of: VersionOf,
        book: Callable[[], CardBook],
        *,
        clock: Clock,
    ) -> None:
        self._rows = rows
        self._awards = awards
        self._posted = posted
        self._version_of = version_of
        self._book = book
        self._clock = clock

    async def carry(self, some: Sequence[Exchange]) -> None:
        """Raises `Unavailable`."""
        now = self._clock.now()
        over = [each for each in some if each.state is State.RESERVED and each.expires_at <= now]
        if over:
            await self._rows.change(over, lambda each: left(each, now), BY)
        if committed := [each for each in some if each.state is State.COMMITTED]:
            await self._award(committed)

    async def _award(self, committed: Sequence[Exchange]) -> None:
        now = self._clock.now()
        posted = await self._posted([_key(each) for each in committed])
        missing = [each for each in committed if _key(each) not in posted]
        there = [each for each in committed if _key(each) in posted]
        if missing:
            packed = pack_compressed("awards", [await self._document(each) for each in missing])
            await self._awards.send([each.body for each in packed])
            await self._rows.change(missing, lambda each: _asked_again(each, now), BY)
        if there:
            await self._rows.change(there, lambda each: awarded(each, now), BY)

    async def _document(self, each: Exchange) -> bytes:
        programme = await self._version_of(each.programme, each.version)
        card = self._book().in_force(each.country, each.sent_at or each.changed_at)
        return encode_award(award_of(each, programme.unit, card))


def _asked_again(each: Exchange, now: datetime) -> Exchange:
    if each.state is not State.COMMITTED:
        return each
    return later(each, now + pause(now - each.changed_at, _SPREAD.random()))


def _key(each: Exchange) -> str:
    return award_key(each.partner, each.reference or "")
