"""Messages of a ledger in slices: each lies with its member, and a slice that is away keeps nobody else untold."""

import asyncio
import itertools
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

import asyncpg
import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.pace import read_rates
from abacus.engage.notify.listener import Listener
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.notifications import Notifications, messages_of
from abacus.engage.notify.outbox import NotificationOutbox
from abacus.engage.notify.parked import ParkedMessages
from abacus.engage.notify.preferences import PreferenceStore
from abacus.platform.delivery.types import Answer, DeliveryOutcome, Room, Said, Settled, Verdict
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import StartAgain
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Connection, Pool
from tests.engage.notify.telling import AT_ONCE, CLOCK, LOG, earned
from tests.ledger.slices.eight import EIGHT, FIRST, MEMBERS, bring_back, take_away
from tests.support.keeping import earned as event

ROOM: Final = Room(10, 10, {})
AWAY: Final = 3


@pytest.fixture
async def away(pool: Pool, owner: Connection) -> None:
    """The server of a slice, as far as its messages go."""
    await take_away(owner, AWAY, "notice", "notification")


def outbox(pool: Pool, rates: str = "log=1000/s") -> NotificationOutbox:
    return NotificationOutbox(pool, CLOCK, ChannelName.LOG, Pace(read_rates(rates)[ChannelName.LOG], ZoneInfo("UTC")))


async def all_told(pool: Pool) -> Notices:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned(member, 1) for member in MEMBERS], gathered_for=AT_ONCE)
    for number in range(8):
        assert (await notices.gather(number, LOG))[:2] == (1, 1)
    return notices


async def test_each_lies_with_its_member(pool: Pool, owner: Connection) -> None:
    store = PreferenceStore(pool, CLOCK)
    for member in MEMBERS:
        await store.set(member, locale="id", channels=None, by="acme")
    await all_told(pool)
    for number, member in enumerate(MEMBERS):
        for table in ("notice", "notification", "notification_preference"):
            assert [row[0] for row in await owner.fetch(f"select member_id from slice_{number}.{table}")] == [member]
        assert [each.locale for each in await messages_of(pool, member, 10)] == ["id"]
        assert (await store.get(member)).set_by == "acme"
    assert (await Notifications(pool).waiting(CLOCK.now()))[ChannelName.LOG].deliveries == 8


@pytest.mark.parametrize("table", ["notice", "notification_preference"])
async def test_a_slice_refuses_members_of_another(pool: Pool, table: str) -> None:
    statement = {
        "notice": "(member_id, event_id, happened_at, seq, part, due_at) values ($1, 'e', now(), 1, '{}', now())",
        "notification_preference": "(member_id, set_by, set_at) values ($1, 'acme', now())",
    }
    async with pool.acquire(schema=EIGHT.schema_of(1)) as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="a member of another slice is no member of slice_1"):
            await connection.execute(f"insert into {table} {statement[table]}", FIRST)


async def test_all_slices_share_the_pace_of_a_channel(pool: Pool) -> None:
    await all_told(pool)
    starts = [turn.start_at for turn in await outbox(pool, "log=10/s").take(ROOM)]
    assert len(starts) == 8
    assert {later - earlier for earlier, later in itertools.pairwise(starts)} == {timedelta(seconds=0.1)}


async def test_parked_messages_of_all_slices(pool: Pool) -> None:
    await all_told(pool)
    refused = Verdict(DeliveryOutcome.GONE, reason="too long")
    turns = await outbox(pool).take(ROOM)
    await outbox(pool).settle([Settled(turn, Answer(Said.REFUSED), refused) for turn in turns])
    parked = ParkedMessages(pool, CLOCK)
    listed = await parked.list(None, 5)
    assert len(listed) == 5
    assert [each.parked_at for each in listed] == sorted(each.parked_at for each in listed)
    with pytest.raises(Refused, match="there is no parked message 'ntf_x'"):
        await parked.resend([listed[0].message_id, "ntf_x"], None)
    assert len(await parked.list(None, 100)) == 8, "none was sent again"
    assert await parked.resend([listed[0].message_id], None) == 1
    assert await parked.resend([], None) == 7


@pytest.mark.usefixtures("away")
async def test_the_others_are_told_while_a_slice_is_away(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    all_of_them = [earned(member, 1) for member in MEMBERS]
    for unreachable in (
        notices.enter(all_of_them, gathered_for=AT_ONCE),
        notices.gather(AWAY, LOG),
    ):
        with pytest.raises(Unavailable):
            await unreachable
    for number in set(range(8)) - {AWAY}:
        await notices.enter([all_of_them[number]], gathered_for=AT_ONCE)
        assert (await notices.gather(number, LOG))[:2] == (1, 1)
    assert len(await outbox(pool).take(ROOM)) == 7
    assert (await Notifications(pool).waiting(CLOCK.now()))[ChannelName.LOG].deliveries == 7


async def test_a_listener_passes_over_a_slice_that_is_away(pool: Pool, owner: Connection) -> None:
    listener = Listener(pool, Notices(pool, CLOCK), CLOCK, WorkerHealth("notifier"), gathered_for=AT_ONCE)
    records = [event(member, 1, 10, at=CLOCK.now(), posted_at=CLOCK.now()) for member in MEMBERS]
    await take_away(owner, AWAY, "notice")
    assert await listener.handle(records) == [records[AWAY]]
    await bring_back(owner, AWAY, "notice")
    with pytest.raises(StartAgain):
        await asyncio.wait_for(_until_it_starts_again(listener), 30)
    assert await listener.handle(records) == ()
    for number in range(8):
        assert await owner.fetchval(f"select count(*) from slice_{number}.notice") == 1


async def _until_it_starts_again(listener: Listener) -> None:
    while True:
        await listener.handle([])
        await asyncio.sleep(0.1)


async def test_one_gathers_in_a_slice_at_a_time_and_others_in_the_next(pool: Pool) -> None:
    notices = Notices(pool, CLOCK)
    await notices.enter([earned(member, seq) for member in MEMBERS for seq in (1, 2)], gathered_for=AT_ONCE)
    gathered = await asyncio.gather(*(notices.gather(number, LOG) for number in [*range(8), *range(8)]))
    assert (sum(each.notices for each in gathered), sum(each.notifications for each in gathered)) == (16, 8)
