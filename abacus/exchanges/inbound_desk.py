"""The one door to what comes in: a partner reserves, commits or cancels, as the house asks it of partners.

A reservation moves nothing. The commit is decided durably, and awarded from then on. A refusal and a cancellation are
tombstones: the id is refused for ever.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.exchanges.decide.caps import CapReached
from abacus.exchanges.decide.exchange import Exchange, inbound_id
from abacus.exchanges.decide.inbound import (
    Against,
    Asked,
    Refusal,
    Taker,
    buried,
    cancelled,
    committed,
    refused,
    reserved,
)
from abacus.exchanges.decide.programme import Direction, Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.quote import Wish, amounts, check_open
from abacus.exchanges.exchange_rows import of_ids
from abacus.exchanges.inbound_rows import InboundRows
from abacus.platform.postgres import Pool, passing_failures

_NONE: Final = "it exchanges nothing with this house now"


class Reservation(Refused):
    """The id is known with other facts."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(f"{exchange.reference} was asked for with other facts: {exchange.theirs} points")
        self.exchange = exchange


class Takers(Protocol):
    """Members by their accounts at partners. Raises `Unavailable`."""

    async def taker_of(self, programme: str, account: str) -> Taker | Against | None:
        """The member whose account it is, by its number; None where nobody has linked it."""
        ...

    async def facts_of(self, partner: str, account: str, theirs: int) -> str:
        """A keyed digest: nobody finds the account by it."""
        ...


class InboundDesk:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(
        self, pool: Pool, clock: Clock, rows: InboundRows, takers: Takers, programmes: Callable[[], Programmes]
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._rows = rows
        self._takers = takers
        self._programmes = programmes

    async def reserve(self, partner: str, id_: str, account: str, theirs: int) -> Exchange:
        """Reserved, or dropped with its reason; what was asked for before stands. Raises `Reservation`."""
        now = self._clock.now()
        offered = [each for each in self._programmes().of_partner(partner) if _takes(each, now)]
        facts = await self._takers.facts_of(partner, account, theirs)
        asked = Asked(partner, id_, account, theirs, facts)
        before = await self.one(partner, id_)
        if before is None:
            drawn, programme = await self._drawn(asked, offered, now)
            before = await self._rows.enter(drawn, programme, lambda fault: _full(asked, programme, fault, now))
        if before.fingerprint not in {"", asked.facts}:
            raise Reservation(before)
        return before

    async def commit(self, partner: str, id_: str) -> Exchange | None:
        """None for an id that was never heard of. What was dropped stays dropped."""
        found = await self.one(partner, id_)
        if found is None:
            return None
        now = self._clock.now()
        late = {each.programme.name: each.programme for each in self._programmes().of_partner(partner)}
        done = await self._rows.change(
            [found], lambda each: committed(each, late.get(each.programme), now), found.source
        )
        return done[found.exchange_id]

    async def cancel(self, partner: str, id_: str) -> Exchange:
        """Dropped, or as it is where it was committed before. An id that was never heard of is refused from now on."""
        now, found = self._clock.now(), await self.one(partner, id_)
        if found is None:
            tomb = buried(partner, id_, now)
            found = await self._rows.enter(tomb, None, lambda _: tomb)
        done = await self._rows.change([found], lambda each: cancelled(each, now), found.source)
        return done[found.exchange_id]

    async def one(self, partner: str, id_: str) -> Exchange | None:
        exchange_id = inbound_id(partner, id_)
        async with passing_failures():
            return (await of_ids(self._pool, [exchange_id])).get(exchange_id)

    async def _drawn(
        self, asked: Asked, offered: Sequence[InForce], now: datetime
    ) -> tuple[Exchange, Programme | None]:
        against: Against | None = None
        for each in offered:
            programme = each.programme
            taker = await self._takers.taker_of(programme.name, asked.account)
            if isinstance(taker, Taker):
                return _reserved(asked, programme, taker, now), programme
            against = taker or against
        if not offered:
            tomb = buried(asked.partner, asked.id, now)
            return tomb._replace(
                fingerprint=asked.facts, theirs=asked.theirs, reason=Refusal.NOT_ELIGIBLE, detail=_NONE
            ), None
        programme = offered[0].programme
        unknown = against or Against(Refusal.ACCOUNT_UNKNOWN, "no member has linked this account")
        return refused(asked, programme, None, unknown, now), programme


def _takes(each: InForce, now: datetime) -> bool:
    try:
        check_open(each.programme, now)
    except Refused:
        return False
    return Direction.IN in each.programme.directions


def _reserved(asked: Asked, programme: Programme, taker: Taker, now: datetime) -> Exchange:
    wish = Wish(taker.member_id, programme.name, Direction.IN, points=asked.theirs)
    try:
        debit, credit = amounts(programme, wish)
    except Refused as fault:
        return refused(asked, programme, taker, Against(Refusal.AMOUNT_NOT_ALLOWED, str(fault)), now)
    if debit != asked.theirs:
        detail = f"{debit} points buy the same {credit}: ask for these"
        return refused(asked, programme, taker, Against(Refusal.AMOUNT_NOT_ALLOWED, detail), now)
    return reserved(asked, programme, taker, credit, now)


def _full(asked: Asked, programme: Programme | None, fault: CapReached, now: datetime) -> Exchange:
    if programme is None:
        return buried(asked.partner, asked.id, now)
    return refused(asked, programme, None, Against(Refusal.CAP_REACHED, str(fault)), now)
