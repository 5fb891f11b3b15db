"""Exchanges of test keys in the sandbox: the programmes in force, with partners that are played in the process.

A played partner keeps no book: what it says follows from the account's number and from the row of the exchange, so all
processes play the same one.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from abacus.core.clock import Clock
from abacus.core.errors import AbacusError, Unavailable
from abacus.engage.notify.decide.notice import Notice
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.heard import Cancelled, Heard, NotKnown, Silence
from abacus.exchanges.decide.inbound import Against, Taker
from abacus.exchanges.decide.programme import Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.rehearsed import (
    LINKED,
    is_kept_back,
    match_of,
    rehearsed,
    said_at_once,
    said_later,
    said_of_undoing,
)
from abacus.exchanges.decide.turn import approved, trail
from abacus.exchanges.exchange_rows import Step, of_ids
from abacus.exchanges.exchanger import MOST, AccountsOf, Exchanger, Reached
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.takers import LinkedTakers
from abacus.exchanges.types import Account, Match, Transfer
from abacus.platform.postgres import Pool, passing_failures

_IDLE_S: Final = 0.5
_ASIDE_S: Final = 10.0  # after a fault that nobody foresaw
_BY: Final = "sandbox"
_NO_LINK: Final = UUID(int=0)

log = structlog.get_logger(__name__)


class RehearsedProgrammes:
    """The live programmes, as they hold in the sandbox."""

    def __init__(self, live: Callable[[], Programmes], versions: ProgrammeVersions) -> None:
        self._live = live
        self._versions = versions
        self._kept: dict[str, tuple[InForce, InForce]] = {}
        self._read: tuple[Programmes, Programmes] | None = None

    def in_force(self) -> Programmes:
        """What is made of a version stays the same object while the live one does. Raises `Unavailable`."""
        read = self._live()
        if self._read is None or self._read[0] is not read:
            self._read = read, self._made(read)
        return self._read[1]

    async def of(self, name: str, version: int) -> Programme:
        """A version that was in force. Raises `Unavailable`, also where none such was."""
        return rehearsed(await self._versions.of(name, version))

    def is_open(self, name: str, now: datetime) -> bool:
        """Whether it is in force, and has not ended. Raises `Unavailable`."""
        found = self.in_force().by_name.get(name)
        return found is not None and now < found.programme.ends_at

    async def is_over(self, name: str, now: datetime) -> bool:
        """Whether it will not be open again. Raises `Unavailable`."""
        return not self.is_open(name, now) and await self._versions.is_over(name, now)

    def _made(self, read: Programmes) -> Programmes:
        before, self._kept = self._kept, {}
        for name, live in read.by_name.items():
            known = before.get(name)
            is_same = known is not None and known[0] is live
            self._kept[name] = known if known and is_same else (live, InForce(rehearsed(live.programme), live.around))
        return Programmes(each for _, each in self._kept.values())


class PlayedPartner:
    """`TransferPort` and `AccountPort` of every programme."""

    def __init__(self, pool: Pool, accounts_of: AccountsOf, clock: Clock) -> None:
        self._pool = pool
        self._accounts_of = accounts_of
        self._clock = clock

    async def put(self, transfer: Transfer) -> Heard:
        return said_at_once(transfer.account.number, transfer.exchange_id, transfer.amount)

    async def get(self, exchange_id: UUID) -> Heard:
        def said(exchange: Exchange, number: str) -> Heard:
            since = self._clock.now() - (exchange.sent_at or exchange.quoted_at)
            return said_later(number, exchange_id, exchange.theirs, since)

        return await self._by_number(exchange_id, said)

    async def cancel(self, exchange_id: UUID) -> Heard:  # noqa: ARG002  # as other partners are asked
        return Cancelled()

    async def reverse(self, exchange_id: UUID) -> Heard:
        return await self._by_number(exchange_id, lambda _, number: said_of_undoing(number))

    async def verify(self, account: Account) -> Match:
        return match_of(account.number)

    async def _by_number(self, exchange_id: UUID, said: Callable[[Exchange, str], Heard]) -> Heard:
        try:
            async with passing_failures():
                exchange = (await of_ids(self._pool, [exchange_id])).get(exchange_id)
            if exchange is None:
                return NotKnown()
            account = (await self._accounts_of([exchange.link_id])).get(exchange.link_id)
        except Unavailable as error:
            return Silence(str(error))
        return NotKnown() if account is None else said(exchange, account.number)


class PlayedLines:
    """`Lines` to the played partner."""

    def __init__(self, partner: PlayedPartner, programmes: RehearsedProgrammes) -> None:
        self._reached = Reached(partner, lambda: MOST)
        self._programmes = programmes

    async def reach(self, programme: str) -> Reached | None:  # noqa: ARG002  # as other lines are asked
        return self._reached

    def may_begin(self, exchange: Exchange, now: datetime) -> bool:
        return self._programmes.is_open(exchange.programme, now) and not is_kept_back(exchange, now)

    async def is_over(self, programme: str, now: datetime) -> bool:
        return await self._programmes.is_over(programme, now)

    async def is_stopped(self) -> bool:
        return False


class InventedTakers:
    """`Takers` in the sandbox: beside accounts that were linked, some are by their numbers."""

    def __init__(self, linked: LinkedTakers) -> None:
        self._linked = linked

    async def taker_of(self, programme: str, account: str) -> Taker | Against | None:
        found = await self._linked.taker_of(programme, account)
        if found is None and account.startswith(LINKED):
            return await self._linked.fitting(programme, Taker(_NO_LINK, account))
        return found

    async def facts_of(self, partner: str, account: str, theirs: int) -> str:
        return await self._linked.facts_of(partner, account, theirs)


class ReviewsAtOnce:
    """`Reviews` in the place of a second person: what is large is let go."""

    async def looked_at(self, some: Sequence[Exchange], now: datetime) -> list[Step]:
        steps = []
        for each in some:
            after = approved(each, now, _BY)
            told = trail(each, after, now, _BY)
            steps.append(Step(each, after, [told] if told else []))
        return steps


class TellsNobody:
    """Where members would be told."""

    async def enter(self, notices: Sequence[Notice], *, gathered_for: timedelta) -> None: ...


async def keep_carrying(exchanger: Exchanger) -> None:
    """Until cancelled: goes on with the exchanges of the sandbox. No fault of theirs ends the process: live callers use
    it, too.
    """
    while True:
        try:
            while await exchanger.go_round():
                pass
        except AbacusError as error:
            log.warning("exchanges of the sandbox are not gone on with", away=error)
        except Exception:
            log.exception("exchanges of the sandbox are not gone on with")
            await asyncio.sleep(_ASIDE_S)
        await asyncio.sleep(_IDLE_S)
