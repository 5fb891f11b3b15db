"""Messages are sent at the channel's pace; those that fail are tried again, parked and sent on request."""

import asyncio
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.pace import read_rates
from abacus.engage.notify.notifications import Notifications
from abacus.engage.notify.outbox import NotificationOutbox
from abacus.engage.notify.parked import ParkedMessages
from abacus.platform.delivery.types import LEASE, Answer, Room, Said
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Pool
from tests.engage.notify.telling import CLOCK, NOW, Notepad, count, earned, enter_and_gather, sending, settled
from tests.support.fixed_clock import FixedClock
from tests.support.sealing import tampering

CLOCKS_DIFFER_BY = timedelta(milliseconds=5)  # the event loop's clock and the system's


@pytest.mark.long
async def test_one_who_cannot_be_reached_holds_up_nobody_and_is_parked_with_the_reason(pool: Pool) -> None:
    await enter_and_gather(pool, *(earned(f"m{number}", 1) for number in range(40)))
    notepad = Notepad()
    notepad.down_for = {"m0", "m7"}
    async with sending(pool, notepad, park_after=timedelta(seconds=0.5)):
        await settled(pool, "sent_at", 38)
        await settled(pool, "parked_at", 2)
        tries = [member for member in notepad.members if member in notepad.down_for]
        assert len(tries) > 2
        parked = await ParkedMessages(pool, CLOCK).list(None, 10)
        assert {each.member_id: each.reason for each in parked} == {"m0": "no answer", "m7": "no answer"}
        assert sorted(set(notepad.members)) == sorted(f"m{number}" for number in range(40))
        with pytest.raises(Refused, match="there is no parked message 'ntf_x'"):
            await ParkedMessages(pool, CLOCK).resend([parked[0].message_id, "ntf_x"], None)
        notepad.down_for = set()
        assert await ParkedMessages(pool, CLOCK).resend([], ChannelName.SNS) == 0
        assert await ParkedMessages(pool, CLOCK).resend([parked[0].message_id], None) == 1
        await settled(pool, "sent_at", 39)
        assert await ParkedMessages(pool, CLOCK).resend([], ChannelName.LOG) == 1
        await settled(pool, "sent_at", 40)
    by_member = {member: {o.message_id for o in notepad.told if o.member_id == member} for member in notepad.members}
    assert all(len(ids) == 1 for ids in by_member.values())
    assert await count(pool, "parked_at") == 0


@pytest.mark.parametrize("said", [Said.REFUSED, Said.GONE])
async def test_what_the_channel_refuses_or_nobody_can_render_is_parked_at_once(
    pool: Pool, database_url: str, said: Said
) -> None:
    await enter_and_gather(pool, earned("bob", 1), earned("eve", 1), earned("zed", 1))
    async with tampering(database_url) as owner:
        await owner.execute("update notification set parts = '[{\"kind\":\"lottery\"}]' where member_id = 'eve'")
    notepad = Notepad()
    notepad.answer = Answer(said, "too long")
    async with sending(pool, notepad):
        await settled(pool, "parked_at", 3)
    reasons = await pool.fetch("select member_id, last_error, attempts from notification order by 1")
    assert [tuple(row) for row in reasons] == [
        ("bob", "too long", 1),
        ("eve", "this version of Abacus cannot read it", 1),
        ("zed", "too long", 1),
    ]


async def test_a_channel_that_is_down_holds_up_no_other(pool: Pool) -> None:
    both = (ChannelName.LOG, ChannelName.WEBHOOK)
    await enter_and_gather(pool, *(earned(f"m{number}", 1) for number in range(30)), channels=both)
    up, down = Notepad(ChannelName.LOG), Notepad(ChannelName.WEBHOOK)
    down.answer = Answer(Said.FAILED, "no answer")
    async with sending(pool, up), sending(pool, down, rates="webhook=1000/s"):
        await settled(pool, "sent_at", 30)
        assert len(up.told) == 30
        down.answer = Answer(Said.ACCEPTED)
        await settled(pool, "sent_at", 60)
    assert set(down.members) == set(up.members)


@pytest.mark.long
async def test_the_pace_holds_over_several_workers(pool: Pool) -> None:
    """A slow machine only makes this easier: a late message starts after its turn, never before it."""
    await enter_and_gather(pool, *(earned(f"m{number:02}", 1) for number in range(45)))
    first, second = Notepad(), Notepad()
    began = CLOCK.now()
    async with sending(pool, first, rates="log=30/s"), sending(pool, second, rates="log=30/s"):
        await settled(pool, "sent_at", 45)
    times = sorted(first.times + second.times)
    assert sorted(first.members + second.members) == [f"m{number:02}" for number in range(45)]
    early = [at for turn, at in enumerate(times) if at < began + turn * timedelta(seconds=1) / 30 - CLOCKS_DIFFER_BY]
    assert not early


async def test_at_rate_nought_everything_waits(pool: Pool) -> None:
    await enter_and_gather(pool, earned("bob", 1))
    notepad = Notepad()
    async with sending(pool, notepad, rates="log=0/s"):
        await asyncio.sleep(0.6)
    assert not notepad.told
    assert (await Notifications(pool).waiting(CLOCK.now()))[ChannelName.LOG].deliveries == 1


async def test_what_a_killed_worker_had_in_hand_is_sent_later_under_its_id(pool: Pool) -> None:
    clock = FixedClock(NOW)
    await enter_and_gather(pool, earned("bob", 1), clock=clock)
    pace = Pace(read_rates("")[ChannelName.LOG], ZoneInfo("UTC"))
    outbox = NotificationOutbox(pool, clock, ChannelName.LOG, pace)
    room = Room(10, 10, {})
    (held,) = await outbox.take(room)
    clock.set(NOW + LEASE - timedelta(microseconds=1))
    assert await outbox.take(room) == []
    clock.set(NOW + LEASE)
    notepad = Notepad()
    async with sending(pool, notepad, clock=clock):
        await settled(pool, "sent_at", 1)
    (told,) = notepad.told
    assert told.message_id == held.id
    assert await pool.fetchval("select attempts from notification") == 2
