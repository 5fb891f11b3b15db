"""Notices of a member become one message, once each, however many gather them."""

import asyncio
from datetime import datetime, timedelta

import orjson

from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.listener import TOLD_WITHIN, Listener
from abacus.engage.notify.metrics import NOTICES
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.notifications import Notifications
from abacus.engage.notify.preferences import PreferenceStore
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import total
from abacus.platform.postgres import Pool
from tests.engage.notify.telling import AT_ONCE, CLOCK, Notepad, earned, enter_and_gather, gather, sending, settled
from tests.support.sealing import tampering
from tests.support.slices import SLICES, home_of
from tests.support.waiting import waiting


async def test_a_burst_becomes_one_message_under_one_id(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    burst = [earned("bob", seq, points=seq) for seq in range(1, 11)]
    assert await notices.enter(burst[:6], gathered_for=AT_ONCE) == 6
    assert await notices.enter(burst, gathered_for=timedelta(hours=1)) == 4  # not due yet, and told with the others
    assert await notices.enter([earned("eve", 1)], gathered_for=timedelta(hours=1)) == 1
    assert (await gather(notices))[:2] == (10, 1)
    assert await notices.enter(burst, gathered_for=AT_ONCE) == 0
    assert (await gather(notices))[:2] == (0, 0)
    notepad = Notepad()
    async with sending(pool, notepad):
        await settled(pool, "sent_at", 1)
    (told,) = notepad.told
    assert (told.member_id, told.words.title) == ("bob", "You earned 55 points")
    assert "55 points from 10 awards are in your account. You now have 100 GRP points." in told.words.text


async def test_two_who_gather_at_once_do_not_tear_a_burst_apart(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned(f"m{seq % 50}", seq + 1) for seq in range(500)], gathered_for=AT_ONCE)
    rounds = await asyncio.gather(*(gather(Notices(pool, CLOCK)) for _ in range(6)))
    while (more := await gather(notices)).notices:
        rounds.append(more)
    assert (sum(each.notices for each in rounds), sum(each.notifications for each in rounds)) == (500, 50)
    assert await pool.fetchval("select count(*) from notification") == 50


async def test_a_gathering_that_is_cut_off_leaves_nothing_half_done(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned("bob", 1), earned("bob", 2)], gathered_for=AT_ONCE)
    async with pool.acquire(schema=await home_of(pool, "bob")) as other, other.transaction():
        # The gatherer has written the message and now waits for this row, to mark it as told.
        await other.execute("select * from notice where event_id = 'bob:GRP:2' for update")
        gathering = asyncio.create_task(gather(notices))
        await waiting(pool, gathering)
        gathering.cancel()
        await asyncio.wait((gathering,))
    assert await pool.fetchval("select count(*) from notification") == 0
    assert (await gather(notices))[:2] == (2, 1)


async def test_a_notice_of_a_newer_version_holds_up_nobody(pool: Pool, database_url: str) -> None:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned("bob", 1), earned("bob", 2), earned("eve", 1)], gathered_for=AT_ONCE)
    async with tampering(database_url) as owner:
        await owner.execute(
            "update notice set part = '{\"kind\":\"lottery\"}' where event_id in ('bob:GRP:1', 'eve:GRP:1')"
        )
    assert (await gather(notices))[:2] == (1, 1)
    assert (await gather(notices))[:2] == (0, 0)
    left = await pool.fetch("select event_id from notice where told_at is null and due_at > now() order by 1")
    assert [row[0] for row in left] == ["bob:GRP:1", "eve:GRP:1"]


async def test_members_are_told_as_they_like(pool: Pool) -> None:
    store = PreferenceStore(pool, CLOCK)
    await store.set("ani", locale="id", channels=[ChannelName.SNS], by="acme")
    await store.set("quiet", locale=None, channels=[], by="acme")
    await store.set("elsewhere", locale=None, channels=[ChannelName.WEBHOOK], by="acme")  # a channel not in use here
    notices = [earned(member, 1) for member in ("ani", "quiet", "elsewhere", "bob")]
    await enter_and_gather(pool, *notices, channels=(ChannelName.LOG, ChannelName.SNS))
    rows = await pool.fetch("select member_id, channel, locale from notification order by 1, 2")
    assert [tuple(row) for row in rows] == [("ani", "sns", "id"), ("bob", "log", "en"), ("bob", "sns", "en")]
    assert await pool.fetchval("select count(*) from notice where told_at is null") == 0
    notepad = Notepad(ChannelName.SNS)
    async with sending(pool, notepad):
        await settled(pool, "sent_at", 2)
    titles = {outgoing.member_id: outgoing.words.title for outgoing in notepad.told}
    assert titles == {"ani": "Anda mendapat 10 poin", "bob": "You earned 10 points"}


async def test_what_was_told_is_removed_in_time_and_what_is_parked_stays(pool: Pool) -> None:
    await enter_and_gather(pool, earned("bob", 1), earned("eve", 1), earned("zed", 1))
    await pool.execute("update notification set sent_at = now() - interval '40 days' where member_id = 'bob'")
    await pool.execute("update notification set parked_at = now() - interval '40 days' where member_id = 'eve'")
    await pool.execute("update notice set told_at = now() - interval '40 days' where member_id <> 'zed'")
    await Notices(pool, CLOCK).enter([earned("new", 1)], gathered_for=AT_ONCE)
    before, notifications = CLOCK.now() - timedelta(days=39), Notifications(pool)
    assert sum([await notifications.prune(number, before) for number in range(SLICES)]) == 3
    assert [row[0] for row in await pool.fetch("select member_id from notification order by 1")] == ["eve", "zed"]
    assert [row[0] for row in await pool.fetch("select member_id from notice order by 1")] == ["new", "zed"]


def event(member: str, seq: int, at: datetime, *, type_: str = "earned", points: int = 10) -> Record:
    data: dict[str, object] = {
        "member_id": member,
        "program": "GRP",
        "country": "SG",
        "seq": seq,
        "points": points,
        "balance": 10,
    }
    data |= {"key": f"txn:rides:{seq}", "kind": "earn", "occurred_at": at, "expires_on": None}
    document = {"id": f"{member}:GRP:{seq}", "type": f"abacus.points.{type_}.v1", "time": at, "data": data}
    return Record(orjson.dumps(document), "points", 0, seq)


async def test_an_event_is_told_once_and_not_long_after(pool: Pool) -> None:
    before = {name: total(NOTICES, outcome=name) for name in ("entered", "known", "too_old", "unreadable")}
    listener = Listener(pool, Notices(pool, CLOCK), CLOCK, WorkerHealth("notifier"), gathered_for=AT_ONCE)
    now = CLOCK.now()
    batch = [
        event("bob", 1, now),
        event("bob", 2, now - TOLD_WITHIN - timedelta(minutes=1)),
        event("bob", 3, now, points=0),
        event("bob", 4, now, type_="reversed", points=-10),
        Record(b"no json", "points", 0, 9),
        event("b\x00b", 1, now),
    ]
    await listener.handle(batch)
    await listener.handle(batch)
    await listener.handle([])
    assert [row[0] for row in await pool.fetch("select event_id from notice")] == ["bob:GRP:1"]
    counted = {name: total(NOTICES, outcome=name) - was for name, was in before.items()}
    assert counted == {"entered": 1, "known": 1, "too_old": 2, "unreadable": 4}
