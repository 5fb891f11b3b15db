"""Members are told: once for each event, at the channel's pace, and whatever fails is tried, parked and sent again."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import orjson
import pytest

from abacus.core.backoff import Backoff
from abacus.core.clock import Clock, SystemClock
from abacus.core.errors import Refused
from abacus.engage.notify.channels.port import Channel
from abacus.engage.notify.decide.message import ChannelName, Outgoing
from abacus.engage.notify.decide.news import Earned
from abacus.engage.notify.decide.notice import Notice
from abacus.engage.notify.decide.pace import Pace, read_rates
from abacus.engage.notify.keeping import Notifications
from abacus.engage.notify.listener import TOLD_WITHIN, Listener
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.outbox import Outbox
from abacus.engage.notify.parked import ParkedMessages
from abacus.engage.notify.preferences import PreferenceStore
from abacus.engage.notify.sender import notification_sender
from abacus.engage.notify.templates import load_templates
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.delivery.types import LEASE, Answer, Room, Said
from abacus.platform.health import WorkerHealth, WorkerState
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.kafka.reader import Record
from abacus.platform.metrics import NOTICES, total
from abacus.platform.postgres import Pool
from tests.support.fixed_clock import FixedClock
from tests.support.hooks import award
from tests.support.house import House, until
from tests.support.proxy import proxied
from tests.support.receiver import Receiver, receiving
from tests.support.waiting import waiting

CLOCK = SystemClock()
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
TEMPLATES = load_templates(None)
SECRET = "whsec_" + "QUJD" * 10 + "QQ=="
LOG = (ChannelName.LOG,)
AT_ONCE = timedelta(0)
CLOCKS_DIFFER_BY = timedelta(milliseconds=5)  # the loop's own clock and the one that is asked


def earned(member: str, seq: int, points: int = 10, at: datetime = NOW) -> Notice:
    news = Earned(program="GRP", country="SG", points=points, count=1, balance=seq * 10, expires_on=date(2026, 12, 31))
    return Notice(member, f"{member}:GRP:{seq}", at, seq, news)


class Notepad:
    """A channel that keeps what it is given, and answers as the test says."""

    def __init__(self, name: ChannelName = ChannelName.LOG) -> None:
        self.name = name
        self.answer = Answer(Said.ACCEPTED)
        self.told: list[Outgoing] = []
        self.times: list[datetime] = []
        self.down_for: set[str] = set()

    async def send(self, outgoing: Outgoing) -> Answer:
        self.told.append(outgoing)
        self.times.append(CLOCK.now())
        return Answer(Said.FAILED, "no answer") if outgoing.member_id in self.down_for else self.answer

    @property
    def members(self) -> list[str]:
        return [outgoing.member_id for outgoing in self.told]


@asynccontextmanager
async def sending(
    pool: Pool,
    channel: Channel,
    *,
    rates: str = "",
    clock: Clock = CLOCK,
    park_after: timedelta = timedelta(hours=24),
) -> AsyncIterator["asyncio.Task[None]"]:
    stop = asyncio.Event()
    pace = Pace(read_rates(rates)[channel.name], ZoneInfo("UTC"))
    sender = notification_sender(
        channel,
        TEMPLATES,
        Outbox(pool, clock, channel.name, pace),
        clock=clock,
        health=WorkerHealth("notifier"),
        park_after=park_after,
        rng=random.Random(1),
        backoff=Backoff(first_s=0.02, longest_s=0.05),
    )
    running = asyncio.create_task(sender.run(stop))
    try:
        yield running
    finally:
        stop.set()
        await asyncio.wait((running,))
        if not running.cancelled():
            running.result()


async def count(pool: Pool, column: str) -> int:
    return int(await pool.fetchval(f"select count(*) from notification where {column} is not null"))


async def settled(pool: Pool, column: str, wanted: int) -> None:
    async def reached() -> bool:
        return await count(pool, column) >= wanted

    await until(reached)


async def test_a_burst_becomes_one_message_under_one_id(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    burst = [earned("bob", seq, points=seq) for seq in range(1, 11)]
    assert await notices.enter(burst[:6], gathered_for=AT_ONCE) == 6
    assert await notices.enter(burst, gathered_for=timedelta(hours=1)) == 4  # not due yet, and told with the others
    assert await notices.enter([earned("eve", 1)], gathered_for=timedelta(hours=1)) == 1
    assert await notices.gather(LOG) == (10, 1)
    assert await notices.enter(burst, gathered_for=AT_ONCE) == 0
    assert await notices.gather(LOG) == (0, 0)
    notepad = Notepad()
    async with sending(pool, notepad):
        await settled(pool, "sent_at", 1)
    (told,) = notepad.told
    assert (told.member_id, told.words.title) == ("bob", "You earned 55 points")
    assert "55 points from 10 awards are in your account. You now have 100 GRP points." in told.words.text


async def enter_and_gather(
    pool: Pool, *notices: Notice, channels: tuple[ChannelName, ...] = LOG, clock: Clock = CLOCK
) -> None:
    store = Notices(pool, clock)
    await store.enter(notices, gathered_for=AT_ONCE)
    await store.gather(channels)


async def test_two_who_gather_at_once_do_not_tear_a_burst_apart(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned(f"m{seq % 50}", seq + 1) for seq in range(500)], gathered_for=AT_ONCE)
    found = await asyncio.gather(*(Notices(pool, CLOCK).gather(LOG) for _ in range(6)))
    while (more := await notices.gather(LOG)).notices:
        found.append(more)
    assert (sum(each.notices for each in found), sum(each.notifications for each in found)) == (500, 50)
    assert await pool.fetchval("select count(*) from notification") == 50


async def test_a_gathering_that_is_cut_off_leaves_nothing_half_done(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned("bob", 1), earned("bob", 2)], gathered_for=AT_ONCE)
    async with pool.acquire() as other, other.transaction():
        # It has written the message and now waits for this row, to mark it as told.
        await other.execute("select * from notice where event_id = 'bob:GRP:2' for update")
        gathering = asyncio.create_task(notices.gather(LOG))
        await waiting(pool, gathering)
        gathering.cancel()
        await asyncio.wait((gathering,))
    assert await pool.fetchval("select count(*) from notification") == 0
    assert await notices.gather(LOG) == (2, 1)


async def test_a_notice_of_a_newer_version_holds_up_nobody(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned("bob", 1), earned("bob", 2), earned("eve", 1)], gathered_for=AT_ONCE)
    await pool.execute("update notice set part = '{\"kind\":\"lottery\"}' where event_id in ('bob:GRP:1', 'eve:GRP:1')")
    assert await notices.gather(LOG) == (1, 1)
    assert await notices.gather(LOG) == (0, 0)
    left = await pool.fetch("select event_id from notice where told_at is null and due_at > now() order by 1")
    assert [row[0] for row in left] == ["bob:GRP:1", "eve:GRP:1"]


async def test_told_to_stop_it_finishes_what_is_under_way(house: House) -> None:
    async with receiving() as receiver:
        telling = told_by_webhook(house, receiver)
        receiver.goes_on.clear()
        await enter_and_gather(house.pool, earned("bob", 1), channels=(ChannelName.WEBHOOK,))
        async with telling.running("notifier"):
            await until(lambda: _seen(receiver, 1))
            asyncio.get_running_loop().call_later(0.3, receiver.goes_on.set)
        assert await count(house.pool, "sent_at") == 1
        assert len(receiver.requests) == 1


async def test_members_are_told_as_they_like(pool: Pool) -> None:
    store = PreferenceStore(pool, CLOCK)
    await store.set("ani", locale="id", channels=[ChannelName.SNS], by="acme")
    await store.set("quiet", locale=None, channels=[], by="acme")
    await store.set("elsewhere", locale=None, channels=[ChannelName.WEBHOOK], by="acme")  # which is not in use here
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
        with pytest.raises(Refused, match="'ntf_x' is no parked message"):
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
async def test_what_the_channel_refuses_or_nobody_can_render_is_parked_at_once(pool: Pool, said: Said) -> None:
    await enter_and_gather(pool, earned("bob", 1), earned("eve", 1), earned("zed", 1))
    await pool.execute("update notification set parts = '[{\"kind\":\"lottery\"}]' where member_id = 'eve'")
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


async def test_the_pace_holds_over_several_workers(pool: Pool) -> None:
    """Timing can only make this easier: whatever is late starts later than its turn, never earlier."""
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
    assert (await Notifications(pool).waiting())[ChannelName.LOG].deliveries == 1


async def test_what_a_killed_worker_had_in_hand_is_sent_later_under_its_id(pool: Pool) -> None:
    clock = FixedClock(NOW)
    await enter_and_gather(pool, earned("bob", 1), clock=clock)
    pace = Pace(read_rates("")[ChannelName.LOG], ZoneInfo("UTC"))
    outbox, room = Outbox(pool, clock, ChannelName.LOG, pace), Room(10, 10, {})
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


async def test_what_was_told_is_removed_in_time_and_what_is_parked_stays(pool: Pool) -> None:
    await enter_and_gather(pool, earned("bob", 1), earned("eve", 1), earned("zed", 1))
    await pool.execute("update notification set sent_at = now() - interval '40 days' where member_id = 'bob'")
    await pool.execute("update notification set parked_at = now() - interval '40 days' where member_id = 'eve'")
    await pool.execute("update notice set told_at = now() - interval '40 days' where member_id <> 'zed'")
    await Notices(pool, CLOCK).enter([earned("new", 1)], gathered_for=AT_ONCE)
    assert await Notifications(pool).prune(CLOCK.now() - timedelta(days=39)) == 3
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
    listener = Listener(Notices(pool, CLOCK), CLOCK, WorkerHealth("notifier"), gathered_for=AT_ONCE)
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


def told_by_webhook(house: House, receiver: Receiver) -> House:
    changes = {
        "notify_channels": "webhook",
        "notify_webhook_url": receiver.url,
        "notify_webhook_secret": SECRET,
        "webhooks_to_private": True,
        "notify_gather_seconds": 0.5,
    }
    return House(house.settings.model_copy(update=changes), house.pool)


async def tier_change(house: House, member: str, at: datetime) -> None:
    data: dict[str, object] = {"member_id": member, "program": "GRP", "country": "SG", "from": "member", "to": "silver"}
    data |= {"reason": "upgrade", "until": "2026-12-31"}
    change = {"id": f"{member}:GRP:tier:1", "type": "abacus.tier.changed.v1", "time": at}
    publisher = StreamPublisher(house.settings.required("kafka_bootstrap"))
    value = orjson.dumps(change | {"data": data})
    await publisher.publish(house.settings.tiers_topic, [StreamMessage(member.encode(), value)])
    await publisher.close()


async def test_from_both_streams_to_one_signed_message_and_again_nothing_new(house: House) -> None:
    async with receiving() as receiver:
        settings = told_by_webhook(house, receiver).settings.model_copy(update={"notify_gather_seconds": 3600})
        async with house.running("relay", "notifier", settings=settings) as health:
            await until(lambda: _is_ready(health.worker("notifier")))
            await PostgresLedger(house.pool, CLOCK).post([award(f"txn:rides:{n}", 5) for n in range(4)])
            await tier_change(house, "bob", CLOCK.now())
            await _entered(house, 5)
            await settled(house.pool, "sent_at", 1)
        again = settings.model_copy(update={"queue_prefix": "again-" + settings.queue_prefix[-12:]})
        async with house.running("relay", "notifier", settings=again):
            await PostgresLedger(house.pool, CLOCK).post([award("txn:rides:last", 7)])
            await _entered(house, 6)
            await settled(house.pool, "sent_at", 2)
    told = receiver.requests
    assert all(request.is_signed_with(SECRET) for request in told)
    assert [request.id for request in told] == [request.json["id"] for request in told]
    assert [news["kind"] for news in told[0].json["about"]] == ["tier_changed", "earned"]
    assert (told[0].json["about"][1]["points"], told[0].json["about"][1]["count"]) == (20, 4)
    assert told[0].json["title"] == "Congratulations, you are silver now"
    assert [news["points"] for news in told[1].json["about"]] == [7]
    assert len(told) == 2


async def test_kill_9_in_mid_delivery_delivers_later_under_the_same_id(house: House) -> None:
    async with receiving() as receiver:
        telling = told_by_webhook(house, receiver)
        receiver.goes_on.clear()
        await enter_and_gather(house.pool, earned("bob", 1, at=CLOCK.now()), channels=(ChannelName.WEBHOOK,))
        async with telling.process("notifier") as killed:
            await until(lambda: _seen(receiver, 1))
            killed.kill()
            await killed.wait()
        assert await count(house.pool, "sent_at") == 0
        await house.pool.execute("update notification set due_at = now()")  # as if its minute had passed
        receiver.goes_on.set()
        async with telling.running("notifier"):
            await settled(house.pool, "sent_at", 1)
        assert len(receiver.ids) == 2
        assert len(set(receiver.ids)) == 1


async def test_a_webhook_that_was_down_gets_everything(house: House) -> None:
    async with receiving() as receiver:
        telling = told_by_webhook(house, receiver)
        await receiver.down()
        await enter_and_gather(house.pool, *(earned(f"m{n}", 1) for n in range(5)), channels=(ChannelName.WEBHOOK,))
        async with telling.running("notifier"):
            await until(lambda: _all_failed(house.pool))
            await receiver.up()
            await settled(house.pool, "sent_at", 5)
        assert len(set(receiver.ids)) == 5


async def test_the_worker_waits_for_the_database_and_says_so(house: House) -> None:
    async with proxied(house.settings.required("database_url")) as (proxy, url):
        settings = house.settings.model_copy(update={"database_url": url})
        async with house.running("notifier", settings=settings) as health:
            await until(lambda: _is_ready(health.worker("notifier")))
            await proxy.cut()
            await until(lambda: _waits(health.worker("notifier")))
            await enter_and_gather(house.pool, earned("bob", 1))
            await proxy.mend()
            await settled(house.pool, "sent_at", 1)
            await until(lambda: _is_ready(health.worker("notifier")))


async def _entered(house: House, wanted: int) -> None:
    """Wait until so many events are entered; then let the time to gather be over."""

    async def reached() -> bool:
        return bool(await house.pool.fetchval("select count(*) = $1 from notice", wanted))

    await until(reached)
    await house.pool.execute("update notice set due_at = now() where told_at is null")


async def _is_ready(health: WorkerHealth) -> bool:
    return health.state is WorkerState.READY


async def _waits(health: WorkerHealth) -> bool:
    return health.state is WorkerState.WAITING and health.detail.startswith("database")


async def _seen(receiver: Receiver, wanted: int) -> bool:
    return len(receiver.requests) >= wanted


async def _all_failed(pool: Pool) -> bool:
    return not await pool.fetchval("select count(*) from notification where last_error is null")
