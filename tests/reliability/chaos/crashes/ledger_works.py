"""The work of the awarder."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Final

from abacus.core.errors import Reason
from abacus.core.ids import partner_key
from abacus.core.sources import partner_source
from abacus.intake.earning.decide.calculate import reversal_of
from abacus.intake.earning.decide.transaction import Refunded, read_transaction
from abacus.ledger.store.allowances import awarded
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import encode_award
from abacus.ledger.types.reversal_message import encode_reversal
from abacus.platform.sqs.definition import AWARD
from abacus.platform.sqs.packer import pack
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.facts import award_of, body_of, paid, refund_of
from tests.reliability.chaos.crashes.lane import Lane
from tests.reliability.chaos.crashes.month_works import expire, lapsing, next_month
from tests.reliability.chaos.crashes.work import Work

BLOCKED_S: Final = 1.0


class Awards(Work):
    """Envelopes with awards: new, doubled, contradicting, bad."""

    worker: ClassVar = "awarder"
    name: ClassVar = "awards"
    passes: ClassVar = frozenset(
        {
            Stage.RECEIVE,
            Stage.BEGIN,
            Stage.CLAIM,
            Stage.LOCK,
            Stage.INSERT,
            Stage.QUARANTINE,
            Stage.COMMIT,
            Stage.DELETE,
        }
    )

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
    """Envelopes with reversals by refunds: one envelope comes twice; the points of one transaction lapsed before."""

    worker: ClassVar = "awarder"
    name: ClassVar = "refunds"
    passes: ClassVar = frozenset(
        {Stage.RECEIVE, Stage.BEGIN, Stage.CLAIM, Stage.LOCK, Stage.DECIDE, Stage.INSERT, Stage.COMMIT, Stage.DELETE}
    )

    async def lay_out(self) -> None:
        kim, lea = [await self.earlier(who, number) for number, who in enumerate(("kim", "lea"))]
        pam, month = paid(self.mark, "pam", 3), next_month()
        await self.post(lapsing(self.lane.book, pam, month))
        await expire(self.lane, month)
        points = self.lapses(pam, month)
        back = [await self._reversal(facts) for facts in (kim, lea, pam)]
        for facts in (kim, lea):
            self.takes_back(refund_of(facts), facts)
        self.takes_back(refund_of(pam), pam, less=points)
        await self.lane.send(AWARD, list(pack("awards", [*back, back[0]])))

    async def _reversal(self, facts: dict[str, Any]) -> bytes:
        transaction = read_transaction(body_of(refund_of(facts)))
        assert isinstance(transaction, Refunded)
        original = await LedgerReader(self.lane.pool).claim(transaction.refunds)
        assert original is not None
        card = self.lane.book.in_force(transaction.country, transaction.occurred_at)
        return encode_reversal(reversal_of(transaction, original, card))

    async def is_done(self) -> bool:
        return await self.lane.is_empty(AWARD)


class PartnersAwards(Work):
    """Two awards of a partner whose budget is enough for one."""

    worker: ClassVar = "awarder"
    name: ClassVar = "partner's awards"
    passes: ClassVar = frozenset(
        {Stage.RECEIVE, Stage.BEGIN, Stage.CLAIM, Stage.LOCK, Stage.INSERT, Stage.COMMIT, Stage.DELETE}
    )

    async def lay_out(self) -> None:
        self._partner = f"p-{self.mark}"
        first, second = (
            award_of(
                self.lane.book,
                paid(self.mark, who, number),
                key=partner_key(self._partner, str(number)),
                source=partner_source(self._partner),
                activity=False,
            )
            for number, who in enumerate(("ann", "bob"))
        )
        self._budget = first.points
        await self.lane.owner.execute(
            "insert into allowance (partner_id, in_total) values ($1, $2)", self._partner, self._budget
        )
        self.due.post(first.member_id, first.key, first.points)
        await self.lane.send(AWARD, list(pack("awards", map(encode_award, (first, second, first)))))

    async def more_faults(self) -> list[str]:
        """Faults unless the budget is spent once and each award has one fate."""
        used = (await awarded(self.lane.pool))[self._partner].used
        row = await self.lane.pool.fetchrow(
            "select (select count(*) from rejection where starts_with(key, $2)),"
            " (select count(*) from partner_award where partner_id = $1)",
            self._partner,
            partner_key(self._partner, ""),
        )
        return [] if (used, *row) == (self._budget, 1, 2) else [f"spent, rejected, registered: {(used, *row)}"]

    async def is_done(self) -> bool:
        return await self.lane.is_empty(AWARD)


class BlockedAwards(Awards):
    """A stranger locks one of the accounts for a while, so the worker has to keep its messages."""

    name: ClassVar = "awards that wait"
    passes: ClassVar = frozenset({Stage.RECEIVE, Stage.HEARTBEAT, Stage.COMMIT, Stage.DELETE})
    paces: ClassVar = {"abacus.platform.sqs.consumer:_KEEP_EVERY_S": 0.2}

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        block = self.lane.owner.transaction()
        await block.start()
        await self.lane.owner.execute("select from account where member_id = $1 for update", f"{self.mark}-eve")

        async def let_go() -> None:
            while not await _waits(self.lane):  # noqa: ASYNC110  # it is another process
                await asyncio.sleep(0.05)
            await asyncio.sleep(BLOCKED_S)

        letting = asyncio.ensure_future(let_go())
        rolling_back = asyncio.ensure_future(_after(letting, block.rollback))
        try:
            yield
        finally:
            letting.cancel()
            await rolling_back


class StoppedAwards(Awards):
    """As above, and the worker is told to stop meanwhile: it gives its messages back."""

    name: ClassVar = "awards given back"
    passes: ClassVar = frozenset({Stage.RECEIVE, Stage.HEARTBEAT})
    paces: ClassVar = {"abacus.platform.sqs.consumer:_DRAIN_S": 0.2}

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        async with self.lane.owner.transaction():
            await self.lane.owner.execute("select from account where member_id = $1 for update", f"{self.mark}-eve")
            yield

    async def is_done(self) -> bool:
        return await _waits(self.lane)


async def _waits(lane: Lane) -> bool:
    """Whether the awarder waits for the account. Only the owner sees the locks that others' sessions wait for."""
    await lane.owner.execute("select pg_stat_clear_snapshot()")  # within a transaction it would see the same for ever
    return bool(
        await lane.owner.fetchval(
            "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname ="
            " current_database())"
        )
    )


async def _after(first: "asyncio.Future[None]", then: Callable[[], Awaitable[None]]) -> None:
    await asyncio.wait((first,))
    await then()
