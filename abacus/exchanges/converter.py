"""Converts quotes: points are held, and the exchange is to be sent. Hold, row, limits and position are one transaction.

Quotes that are converted within a few milliseconds go together. What is refused holds nothing, and leaves its key free.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError, Refused, Unavailable, absent
from abacus.core.sources import Agent
from abacus.exchanges.decide.caps import Use, uses_of
from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.movements import hold_of
from abacus.exchanges.decide.position import EntryKind, change, worth
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.quote import asked
from abacus.exchanges.decide.turn import trail
from abacus.exchanges.exchange_rows import (
    Step,
    add_uses,
    locked,
    of_ids,
    of_keys,
    write,
)
from abacus.exchanges.metrics import IN_METRICS, Counting
from abacus.exchanges.position_rows import Standing, locked_standings, write_entries
from abacus.exchanges.room_rows import rooms_of
from abacus.exchanges.settler import MovesBeside, VersionOf, entry_of
from abacus.ledger.types.movement import Decline, Declined, Moved, Movement
from abacus.ledger.types.port import Status, Unpostable
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures

GATHER_S: Final = 0.003
MOST_TOGETHER: Final = 250
AT_ONCE: Final = 2  # while one waits for its commit, the other decides


class Stale(StrEnum):
    """Why a quote is good no more."""

    OVER = "over"
    USED = "used"  # it was converted under another key
    CLOSED = "closed"  # the programme is paused or over, or the link is


class QuoteStale(Refused):
    """The quote is not good any more: another one is needed."""

    def __init__(self, stale: Stale, detail: str) -> None:
        super().__init__(detail)
        self.stale = stale


class KeyReused(Refused):
    """The key is that of another exchange."""


class PointsShort(Refused):
    """The member has fewer points, or may not have them moved."""

    def __init__(self, decline: Decline, detail: str) -> None:
        super().__init__(detail)
        self.decline = decline


class Conversion(NamedTuple):
    """A quote that is to be converted, under the caller's key with its source."""

    quote_id: UUID
    key: str
    agent: Agent
    member_id: str | None = None  # whose quote it has to be, where the caller says so
    also: Also = nothing_else  # done with it


# Why quotes are good no more for another reason than their time: by their ids. Raises `Unavailable`.
Closed: TypeAlias = Callable[[Sequence[Exchange]], Awaitable[Mapping[UUID, str]]]
_Request: TypeAlias = PendingRequest[Conversion, Exchange]


class _Wanted(NamedTuple):
    quote: Exchange
    after: Exchange
    programme: Programme
    also: Also

    @property
    def money(self) -> Decimal:
        offered = self.programme.directions[self.quote.direction]
        return worth(offered, self.quote.theirs, self.quote.points, self.quote.direction)


class Converter:
    """One for each process; any number of them share the work. `close` waits for what is in progress."""

    def __init__(
        self,
        pool: Pool,
        moves: MovesBeside,
        version_of: VersionOf,
        closed: Closed,
        clock: Clock,
        *,
        counting: Counting = IN_METRICS,
    ) -> None:
        self._pool = pool
        self._moves = moves
        self._version_of = version_of
        self._closed = closed
        self._clock = clock
        self._counting = counting
        self._gatherer: Gatherer[Conversion, Exchange] = Gatherer(
            self._do, gather_s=GATHER_S, most_together=MOST_TOGETHER, at_once=AT_ONCE
        )

    async def convert(self, conversion: Conversion) -> Exchange:
        """The exchange, which holds its points now; the same key gives it again, as it is then. Raises `Absent`,
        `QuoteStale`, `KeyReused`, `CapReached`, `PointsShort`, and `Unavailable`.
        """
        return await self._gatherer.ask(conversion)

    async def close(self) -> None:
        await self._gatherer.close()

    async def _do(self, together: Sequence[_Request]) -> None:
        try:
            await self._convert(together)
        except (asyncpg.UniqueViolationError, Unpostable):
            for each in together:  # another process has a key of these, and its exchange is there now
                await self._alone(each)

    async def _alone(self, waiting: _Request) -> None:
        try:
            await self._convert([waiting])
        except (asyncpg.UniqueViolationError, Unpostable) as error:
            waiting.refuse(Unavailable("exchanges", f"the exchange cannot be entered now: {error}"))
        except AbacusError as error:
            waiting.refuse(error)

    async def _convert(self, together: Sequence[_Request]) -> None:
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection:
            known = await of_keys(connection, {each.request.key for each in together})
            quotes = await of_ids(connection, {each.request.quote_id for each in together})
        new = [each for each in together if not _answered(each, known, quotes)]
        closed = await self._closed([quotes[each.request.quote_id] for each in new]) if new else {}
        wanted, waiting = dict[str, _Wanted](), dict[str, list[_Request]]()
        taken: dict[str, UUID] = {}
        for each in new:
            quote = quotes[each.request.quote_id]
            if (stale := _stale(quote, closed, now)) is not None:
                each.refuse(stale)
                continue
            first = taken.setdefault(each.request.key, quote.exchange_id)
            if first != quote.exchange_id:
                each.refuse(_reused(each.request, first))
                continue
            programme = await self._version_of(quote.programme, quote.version)
            after = asked(quote, programme, each.request.key, each.request.agent, now)
            hold = hold_of(after)
            if hold.key not in wanted:
                wanted[hold.key] = _Wanted(quote, after, programme, each.request.also)
            waiting.setdefault(hold.key, []).append(each)
        if wanted:
            rows = _Rows(wanted, self._clock)
            moved = await self._moves.move_beside([hold_of(each.after) for each in wanted.values()], rows)
            self._counting.turned(wanted[fate.movement.key].after for fate in moved if fate.status is Status.POSTED)
            overtaken = await self._overtaken(moved, waiting)
            for fate in moved:
                for place, each in enumerate(waiting[fate.movement.key]):
                    if fate.status is not Status.POSTED and _answered(each, overtaken, quotes):
                        continue
                    _answer(each, wanted[fate.movement.key], fate, rows, is_first=place == 0)

    async def _overtaken(
        self, moved: Sequence[Moved], waiting: Mapping[str, Sequence[_Request]]
    ) -> Mapping[str, Exchange]:
        """The exchanges that another process has entered meanwhile under the keys of what was not held here: a caller
        that got no answer asks again there.
        """
        keys = {
            each.request.key
            for fate in moved
            if fate.status is not Status.POSTED
            for each in waiting[fate.movement.key]
        }
        if not keys:
            return {}
        async with passing_failures():
            return await of_keys(self._pool, keys)


class _Rows:
    """`Beside`, for one call."""

    def __init__(self, wanted: Mapping[str, _Wanted], clock: Clock) -> None:
        self._wanted = wanted
        self._clock = clock
        self._standings: Mapping[str, Standing] = {}
        self.faults: dict[str, Refused] = {}

    async def admit(self, connection: Connection, movements: Sequence[Movement]) -> Mapping[str, Declined]:
        some = {each.key: self._wanted[each.key] for each in movements}
        standings = await locked_standings(connection, {each.quote.programme for each in some.values()})
        self._standings = {**self._standings, **standings}  # slices are worked in side by side
        quotes = await locked(connection, [each.quote.exchange_id for each in some.values()])
        rooms = await rooms_of(connection, [(each.after, each.programme) for each in some.values()], self._clock.now())
        balances = {name: standing.balance for name, standing in standings.items()}
        refused = {}
        for key, each in some.items():
            self.faults.pop(key, None)
            try:
                _check_quoted(each.quote, quotes)
                balance = balances[each.quote.programme]
                rooms[each.quote.programme].check(each.after, each.programme, balance, each.money)
            except Refused as fault:
                self.faults[key] = fault
                refused[key] = Declined(Decline.BUDGET_EXHAUSTED, str(fault))
            else:
                rooms[each.quote.programme].take(each.after, each.programme)
                balances[each.quote.programme] += change(EntryKind.HELD, each.money)
        return refused

    async def write(self, connection: Connection, moved: Sequence[Moved]) -> None:
        now = self._clock.now()
        held = [self._wanted[each.movement.key] for each in moved if each.status is Status.POSTED]
        steps = []
        for each in held:
            told = trail(each.quote, each.after, now, each.after.source)
            steps.append(Step(each.quote, each.after, [told] if told else []))
        await write(connection, steps)
        drafts = [entry_of(each.after, each.programme, EntryKind.HELD) for each in held]
        await write_entries(connection, self._standings, drafts, now)
        more: dict[Use, int] = {}
        for each in held:
            for use in uses_of(each.after, each.programme.timezone):
                more[use] = more.get(use, 0) + each.after.points
        await add_uses(connection, more)
        for each in held:
            await each.also(connection)


def _check_quoted(quote: Exchange, now_there: Mapping[UUID, Exchange]) -> None:
    """Raises `QuoteStale`."""
    found = now_there.get(quote.exchange_id)
    if found is None:
        raise QuoteStale(Stale.OVER, "the quote is over")
    if found.state is not State.QUOTED:
        raise QuoteStale(Stale.USED, "the quote was converted at the same moment")


def _answered(each: _Request, known: Mapping[str, Exchange], quotes: Mapping[UUID, Exchange]) -> bool:
    """What was asked for before stands, and what nobody knows is refused."""
    conversion = each.request
    before = known.get(conversion.key)
    if before is not None:
        if before.exchange_id == conversion.quote_id:
            each.answer(before)
        else:
            each.refuse(_reused(conversion, before.exchange_id))
        return True
    quote = quotes.get(conversion.quote_id)
    if quote is None or quote.source != conversion.agent.source:
        each.refuse(absent("quote", conversion.quote_id, "it is over, or it is another caller's"))
        return True
    if conversion.member_id not in {None, quote.member_id}:
        each.refuse(absent("quote", conversion.quote_id, f"none of {conversion.member_id} has this id"))
        return True
    return False


def _stale(quote: Exchange, closed: Mapping[UUID, str], now: datetime) -> QuoteStale | None:
    if quote.state is not State.QUOTED:
        return QuoteStale(Stale.USED, "the quote was converted under another key")
    if now >= quote.expires_at:
        return QuoteStale(Stale.OVER, f"the quote was good until {quote.expires_at.isoformat()}")
    why = closed.get(quote.exchange_id)
    return None if why is None else QuoteStale(Stale.CLOSED, why)


def _reused(conversion: Conversion, first: UUID) -> KeyReused:
    key = conversion.key.rpartition("\n")[2]
    return KeyReused(f"{key} is the key of exchange {first}, not of {conversion.quote_id}")


def _answer(each: _Request, wanted: _Wanted, fate: Moved, rows: _Rows, *, is_first: bool) -> None:
    if not is_first and each.request.key != wanted.after.key:
        each.refuse(QuoteStale(Stale.USED, "the quote was converted under another key"))
    elif fate.status is Status.POSTED:
        each.answer(wanted.after)
    elif fate.status is Status.REFUSED:
        declined = fate.fault if isinstance(fate.fault, Declined) else None
        reason = Decline.INSUFFICIENT if declined is None else declined.reason
        detail = str(fate.fault) if declined is None else declined.detail
        each.refuse(rows.faults.get(fate.movement.key) or PointsShort(reason, detail))
    elif fate.status is Status.WAITS:
        each.refuse(Unavailable("ledger", "the server of this member's slice is away"))
    else:
        each.refuse(QuoteStale(Stale.USED, "the quote was converted at the same moment"))
