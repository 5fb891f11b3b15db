"""The work of the calculator and of the retrier."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import ClassVar, Final

from abacus.core.errors import Reason
from abacus.intake.earning.decide.source_message import SourceMessage, encode_retry
from abacus.ledger.types.award_envelope import encode_award
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.packer import pack
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.facts import award_of, body_of, cancelled, paid, refund_of
from tests.reliability.chaos.crashes.work import Work

AWAY_S: Final = 2.5  # longer than the reader waits before it goes on polling
QUIET_S: Final = 1.5  # several polls long: in a topic that brings nothing the reader asks whether the broker is there
_LONG_AGO: Final = timedelta(days=2)

# A table that is not there is waited for, as in a database that is not migrated yet.
_AWAY: Final = "alter table membership rename to membership_away"
_BACK: Final = "alter table if exists membership_away rename to membership"


class Stream(Work):
    """Every sort of message that the topic may bring."""

    worker: ClassVar = "calculator"
    name: ClassVar = "stream"
    passes: ClassVar = frozenset(
        {Stage.RECEIVE, Stage.DECIDE, Stage.SEND, Stage.RETRY, Stage.QUARANTINE, Stage.OFFSET_COMMIT, Stage.JOIN}
    )

    async def lay_out(self) -> None:
        mark = self.mark
        kim, eve = await self.earlier("kim", 1), await self.earlier("eve", 2)
        new = [paid(mark, "ann", 3), paid(mark, "bob", 4, vertical="food"), cancelled(mark, "ann", 5)]
        self._late = paid(mark, "bob", 6)
        back, waits = refund_of(kim), refund_of(self._late)
        other = eve | {"amount": "99.00"}
        garbage, nowhere = f"{{garbage {mark}".encode(), paid(mark, "ann", 7, country="XX")
        await self.produce(*new, new[0], other, garbage, nowhere, paid(mark, "ann", 8, type="unlisted"), back, waits)
        self.earns(*new, self._late)
        self.takes_back(back, kim)
        self.takes_back(waits, self._late)
        self.is_bad(Reason.UNDECODABLE, garbage)
        self.is_bad(Reason.UNKNOWN_COUNTRY, nowhere)
        self.due.hold(Reason.KEY_CONFLICT, encode_award(award_of(self.lane.book, other)))

    async def follow_up(self) -> None:
        await self.produce(self._late)

    async def is_done(self) -> bool:
        """The topic is read, and the reader has met it quiet."""
        if await self.lane.is_read():
            await asyncio.sleep(QUIET_S)
            return True
        return False


class StreamWithoutTiers(Work):
    """The tiers cannot be read: the first batch is put off, the second waits."""

    worker: ClassVar = "calculator"
    name: ClassVar = "tiers away"
    passes: ClassVar = frozenset({Stage.RECEIVE, Stage.DECIDE, Stage.SEND, Stage.RETRY, Stage.OFFSET_COMMIT})

    async def lay_out(self) -> None:
        self._waits_until: float | None = None
        new = [paid(self.mark, who, number) for number, who in enumerate(("ann", "bob", "eve"))]
        await self.produce(*new)
        self.earns(*new)

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        more = [paid(self.mark, who, 10 + number) for number, who in enumerate(("ann", "bob", "eve"))]
        self.earns(*more)

        async def come_back() -> None:
            while await self.lane.is_empty(RETRY):  # noqa: ASYNC110  # until the calculator has met the missing tiers
                await asyncio.sleep(0.05)
            await self.produce(*more)
            self._waits_until = asyncio.get_running_loop().time() + AWAY_S * 0.6
            await asyncio.sleep(AWAY_S)
            await self.lane.owner.execute(_BACK)

        await self.lane.owner.execute(_AWAY)
        coming = asyncio.ensure_future(come_back())
        try:
            yield
        finally:
            coming.cancel()
            await asyncio.wait((coming,))
            await self.lane.owner.execute(_BACK)
        if coming.cancelled():
            await self.produce(*more)

    async def is_done(self) -> bool:
        """The second batch came, waited, and is read. The first alone may be read before the second is sent."""
        return self._waits_until is not None and await self.lane.is_read()


class StoppedStream(StreamWithoutTiers):
    """As above, and the worker is told to stop while it waits: it leaves its batch to the next worker."""

    name: ClassVar = "stopped while tiers are away"
    passes: ClassVar = frozenset({Stage.RECEIVE, Stage.DECIDE, Stage.RETRY, Stage.JOIN})
    paces: ClassVar = {"abacus.platform.kafka.reader:_DRAIN_S": 0.2}

    async def is_done(self) -> bool:
        """The second batch has been on the topic for long enough to be in the worker's hands."""
        return self._waits_until is not None and asyncio.get_running_loop().time() > self._waits_until


class Retries(Work):
    """Messages that come back: some are posted, some set aside, some put off again."""

    worker: ClassVar = "retrier"
    name: ClassVar = "retries"
    passes: ClassVar = frozenset({Stage.RECEIVE, Stage.DECIDE, Stage.SEND, Stage.RETRY, Stage.QUARANTINE, Stage.DELETE})

    async def lay_out(self) -> None:
        self._offsets = count()
        mark, now = self.mark, datetime.now(UTC)
        kim = await self.earlier("kim", 1)
        new = [paid(mark, "ann", 2), paid(mark, "bob", 3)]
        self._late = paid(mark, "bob", 4)
        back, waits, never = refund_of(kim), refund_of(self._late), refund_of(paid(mark, "eve", 5))
        nowhere = paid(mark, "ann", 6, country="XX")
        broken = f"{{broken {mark}"
        recent = [self._waited(each, now) for each in (*new, new[0], back, nowhere)]
        for items in (recent, [self._waited(waits, now)], [self._waited(never, now - _LONG_AGO)]):
            await self.lane.send(RETRY, list(pack("retries", map(encode_retry, items))))
        await self.lane.send(RETRY, [broken])
        self.earns(*new, self._late)
        self.takes_back(back, kim)
        self.takes_back(waits, self._late)
        self.is_bad(Reason.UNKNOWN_COUNTRY, nowhere)
        self.is_bad(Reason.RETRIES_EXHAUSTED, never)
        self.is_bad(Reason.UNDECODABLE, broken.encode())

    def _waited(self, facts: dict[str, object], since: datetime) -> SourceMessage:
        return SourceMessage(body_of(facts), f"kafka:{self.mark}/0/{next(self._offsets)}", 1, since, "database: away")

    async def follow_up(self) -> None:
        await self.produce(self._late)

    async def is_done(self) -> bool:
        """All is done but the refund that waits for its transaction, which follows later."""
        held = await self.lane.pool.fetchval(
            "select count(*) from quarantine where convert_from(body, 'UTF8') like '%' || $1 || '%'", self.mark
        )
        posted = await self.lane.pool.fetchval(
            "select count(*) from transfer where starts_with(member_id, $1)", self.mark
        )
        return bool(
            held == self.due.held.total() and posted >= self.due.posted.total() - 2
        ) and await self.lane.is_empty(AWARD)
