"""The work of the awarder, of the expirer and of the relay."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from itertools import count
from typing import ClassVar, Final
from zoneinfo import ZoneInfo

from abacus.core.errors import Reason
from abacus.earning.calculate import reversal_of
from abacus.earning.transaction import Refunded, read_transaction
from abacus.expiry.month import Month
from abacus.expiry.sweep import MonthEndJob, Task
from abacus.ledger.award import Award, encode_award
from abacus.ledger.read import LedgerReader
from abacus.ledger.reversal_message import encode_reversal
from abacus.queues.definition import AWARD, EXPIRY
from abacus.queues.envelope import pack
from tests.chaos.crashes.facts import award_of, body_of, paid, refund_of
from tests.chaos.crashes.work import Work

BLOCKED_S: Final = 1.0
_KEEPS_EVERY_S: Final = 0.2
_FIRST_MONTH: Final = 2001 * 12


class Awards(Work):
    """Envelopes with awards: new, doubled, contradicting, bad."""

    worker: ClassVar = "awarder"
    name: ClassVar = "awards"

    async def lay_out(self) -> None:
        mark, book = self.mark, self.lane.book
        eve = await self.earlier("eve", 1)
        new = self.earns(paid(mark, "ann", 2), paid(mark, "bob", 3), paid(mark, "ann", 4), paid(mark, "eve", 5))
        lasting = award_of(book, paid(mark, "lea", 6), lifetime=True)
        self.due.post(lasting.member_id, lasting.key, lasting.points)
        other = award_of(book, eve | {"amount": "99.00"})
        bad, garbage = {"key": f"txn:rides:{mark}-7", "points": "many"}, f"{{garbage {mark}"
        encoded = [encode_award(award) for award in (*new, new[0], other, lasting)]
        await self.lane.send(AWARD, [*pack("awards", [*encoded, json.dumps(bad).encode()]), garbage])
        await self.lane.send(AWARD, list(pack("awards", encoded[:2])))
        self.due.hold(Reason.KEY_CONFLICT, encode_award(other))
        self.due.hold(Reason.INVALID, json.dumps(bad))
        self.due.hold(Reason.UNDECODABLE, garbage)

    async def is_done(self) -> bool:
        return await self.lane.is_empty(AWARD)


class Refunds(Work):
    """Envelopes with what refunds take back, of which one comes twice."""

    worker: ClassVar = "awarder"
    name: ClassVar = "refunds"

    async def lay_out(self) -> None:
        kim, lea = await self.earlier("kim", 1), await self.earlier("lea", 2)
        back = [encode for facts in (kim, lea) for encode in await self._reversals(facts)]
        await self.lane.send(AWARD, list(pack("awards", [*back, back[0]])))

    async def _reversals(self, facts: dict[str, object]) -> list[bytes]:
        refund = refund_of(facts)
        self.takes_back(refund, facts)
        transaction = read_transaction(body_of(refund))
        assert isinstance(transaction, Refunded)
        original = await LedgerReader(self.lane.pool).claim(transaction.refunds)
        assert original is not None
        card = self.lane.book.in_force(transaction.country, transaction.occurred_at)
        return [encode_reversal(reversal_of(transaction, original, card))]

    async def is_done(self) -> bool:
        return await self.lane.is_empty(AWARD)


class BlockedAwards(Awards):
    """Somebody else holds one of the accounts for a while, so the messages in hand have to be kept."""

    name: ClassVar = "awards that wait"
    adds_to: ClassVar = Awards.name
    keeps_every_s: ClassVar = _KEEPS_EVERY_S

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        block = self.lane.owner.transaction()
        await block.start()
        await self.lane.owner.execute("select from account where member_id = $1 for update", f"{self.mark}-eve")

        async def let_go() -> None:
            await asyncio.sleep(BLOCKED_S)
            await block.rollback()

        letting = asyncio.ensure_future(let_go())
        try:
            yield
        finally:
            await letting


class Expiries(Work):
    """Envelopes of a month's end, of which one comes twice, and one that is none."""

    worker: ClassVar = "expirer"
    name: ClassVar = "expiries"
    _months: ClassVar = count(_FIRST_MONTH)

    async def lay_out(self) -> None:
        year, number = divmod(next(self._months), 12)
        month = Month(year, number + 1)
        accounts = [self._lapsing("ann", 1, month.last_day), self._lapsing("bob", 2, month.last_day)]
        kept = self._lapsing("eve", 3, month.last_day)
        await self.post(*accounts, kept)
        job = MonthEndJob(self.lane.pool, self.lane.queues[EXPIRY], self.lane.clock)
        task = Task("SG", month, ZoneInfo("Asia/Singapore"))
        await job.run(task, lambda _: None)
        await job.run(task, lambda _: None, again=True)
        await self.earlier("eve", 4)  # active again
        garbage = f"{{garbage {self.mark}"
        await self.lane.send(EXPIRY, [garbage])
        self.due.hold(Reason.INVALID, garbage)
        for award in accounts:
            self.due.post(award.member_id, f"expiry:{month}", -award.points)

    def _lapsing(self, who: str, number: int, day: date) -> Award:
        return award_of(self.lane.book, paid(self.mark, who, number), expires_on=day)

    async def is_done(self) -> bool:
        return await self.lane.is_empty(EXPIRY)


class Transfers(Work):
    """Transfers of several accounts, some of them several."""

    worker: ClassVar = "relay"
    name: ClassVar = "transfers"

    async def lay_out(self) -> None:
        for number, who in enumerate(("ann", "bob", "ann", "eve", "ann")):
            await self.earlier(who, number)

    async def is_done(self) -> bool:
        return await self.lane.is_told()
