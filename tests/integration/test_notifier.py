"""Members are told: once for each event, at the channel's pace, and whatever fails is tried, parked and sent again."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import asynccontextmanager
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import orjson
import pytest

from abacus.core.backoff import Backoff
from abacus.core.clock import FixedClock, SystemClock
from abacus.health import State, WorkerHealth
from abacus.ledger.post import PostgresLedger
from abacus.metrics import NOTICES, total
from abacus.notify.channels.log import LogChannel
from abacus.notify.channels.port import Channel
from abacus.notify.gatherer import Gatherer
from abacus.notify.listener import TOLD_WITHIN, Listener
from abacus.notify.message import ChannelName, Outgoing
from abacus.notify.notice import Notice
from abacus.notify.notices import Notices
from abacus.notify.outbox import LEASE, Outbox
from abacus.notify.outcome import Answer, Said
from abacus.notify.pace import DEFAULT, Pace, read_rates
from abacus.notify.parked import ParkedMessages
from abacus.notify.part import Earned, TierChanged
from abacus.notify.preferences import PreferenceStore
from abacus.notify.sender import Sender
from abacus.notify.templates import load_templates
from abacus.postgres import Pool
from abacus.settings import Settings
from abacus.streams.publisher import Message, StreamPublisher
from abacus.streams.reader import Record
from tests.integration.house import House, until
from tests.integration.receiver import Receiver, receiving
from tests.integration.test_webhooks import award

CLOCK = SystemClock()
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
TEMPLATES = load_templates(None)
SECRET = "whsec_" + "QUJD" * 10 + "QQ=="
LOG = (ChannelName.LOG,)
AT_ONCE = timedelta(0)


def earned(member: str, seq: int, points: int = 10, at: datetime = NOW) -> Notice:
    part = Earned(program="GRP", country="SG", points=points, count=1, balance=seq * 10, expires_on=date(2026, 12, 31))
    return Notice(member, f"{member}:GRP:{seq}", at, seq, part)


class Notepad:
    """A channel that keeps what it is given, and answers as the test says."""

    def __init__(self, name: ChannelName = ChannelName.LOG, answer: Answer = Answer(Said.SENT)) -> None:  # noqa: B008  # a frozen value
        self.name = name
        self.answer = answer
        self.told: list[Outgoing] = []
        self.down_for: set[str] = set()

    async def send(self, outgoing: Outgoing) -> Answer:
        self.told.append(outgoing)
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
    lease: timedelta = LEASE,
    park_after: timedelta = timedelta(hours=24),
) -> AsyncIterator["asyncio.Task[None]"]:
    stop = asyncio.Event()
    sender = Sender(
        channel,
        TEMPLATES,
        Outbox(pool, CLOCK, lease=lease),
        Pace(read_rates(rates)[channel.name], ZoneInfo("UTC")),
        clock=CLOCK,
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

    await until(reached, within_s=5)


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
