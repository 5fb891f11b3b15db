"""The work of the notifier under caps: what is counted is sent, and what is sent is counted, each once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import ClassVar, Final

import asyncpg

from abacus.core.errors import Refused
from abacus.engage.notify.notices import Notices
from tests.engage.notify.promoting import promoted
from tests.reliability.chaos.crashes.crossing import Stage
from tests.reliability.chaos.crashes.facts import paid
from tests.reliability.chaos.crashes.work import Work
from tests.support.contact import publish_contact

_CAP: Final = 2
_NOTICES: Final = 4  # one after the other
_WHO: Final = ("ann", "bob")
_NO_PACE: Final = "delete from pace"  # the first message of a channel makes its row
_LOOK_EVERY_S: Final = 0.1
_OPEN: Final = "select count(*) from notice where starts_with(member_id, $1) and told_at is null"
_UNSENT: Final = "select count(*) from notification where starts_with(member_id, $1) and sent_at is null"
# Of each member: what caps have counted, what messages say, how often these were sent, and what is never told.
_CONTACT: Final = """
select m.member_id,
    (select coalesce(sum(messages), 0) from message_count where member_id = m.member_id),
    (select count(*) from notification, json_array_elements(parts) p
        where member_id = m.member_id and p ->> 'kind' = 'campaign'),
    (select count(*) from untold_message where member_id = m.member_id)
from unnest($1::text[]) as m (member_id)
"""
_EARNED: Final = """
select count(*) from notification, json_array_elements(parts) p
where member_id = $1 and p ->> 'kind' = 'earned' and sent_at is not null
"""
_LEASES_END: Final = """
update notification set due_at = now() where starts_with(member_id, $1) and sent_at is null and due_at > now()
"""


class MessagesUnderCaps(Work):
    """Campaigns have four things to say to each of two members, one after the other, and a cap leaves room for two. A
    third one is told of its points.
    """

    worker: ClassVar = "notifier"
    name: ClassVar = "caps"
    passes: ClassVar = frozenset(
        {
            Stage.RECEIVE,
            Stage.DECIDE,
            Stage.BEGIN,
            Stage.LOCK,
            Stage.INSERT,
            Stage.COMMIT,
            Stage.NOTICE,
            Stage.OFFSET_COMMIT,
        }
    )

    async def lay_out(self) -> None:
        self._members = [f"{self.mark}-{who}" for who in _WHO]
        self._entered = 0
        with suppress(Refused):  # it is there already
            await publish_contact(self.lane.pool, caps={"log": {"marketing": f"{_CAP} a day"}})
        await self.lane.owner.execute(_NO_PACE)
        order = paid(self.mark, "eve", 1, occurred_at=self.lane.clock.now().isoformat())
        await self.produce(order)
        self.earns(order)
        await self._enter()

    @asynccontextmanager
    async def hindered(self) -> AsyncIterator[None]:
        self._saying = asyncio.create_task(self._say_more())
        yield

    async def follow_up(self) -> None:
        """What the worker has had in hand is free again, as after a minute."""
        await self.lane.owner.execute(_LEASES_END, self.mark)

    async def is_done(self) -> bool:
        if self._entered < _NOTICES:
            return False
        pool = self.lane.pool
        earned = await pool.fetchval(_EARNED, f"{self.mark}-eve")
        return (await pool.fetchval(_OPEN, self.mark), await pool.fetchval(_UNSENT, self.mark), earned) == (0, 0, 1)

    async def is_through(self) -> bool:
        return await self.is_done()

    async def more_faults(self) -> list[str]:
        self._saying.cancel()
        with suppress(asyncio.CancelledError):
            await self._saying
        rows = [tuple(row) for row in await self.lane.pool.fetch(_CONTACT, self._members)]
        due = [(member, _CAP, _CAP, _NOTICES - _CAP) for member in self._members]
        return [] if rows == due else [f"counted, told and never told: {rows}, and due are {due}"]

    async def _say_more(self) -> None:
        """Each once what was said before is decided, so that the count of the day is read again."""
        while self._entered < _NOTICES:
            with suppress(asyncpg.PostgresError):  # that has no room for another connection
                if await self.lane.pool.fetchval(_OPEN, self.mark) == 0:
                    await self._enter()
            await asyncio.sleep(_LOOK_EVERY_S)

    async def _enter(self) -> None:
        clock, number = self.lane.clock, self._entered
        notices = [promoted(member, number, clock.now()) for member in self._members]
        await Notices(self.lane.pool, clock).enter(notices, gathered_for=timedelta())
        self._entered = number + 1
