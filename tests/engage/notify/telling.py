"""Notices, a channel that keeps its messages, and a sender for it, for the tests that notify members."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from abacus.core.backoff import Backoff
from abacus.core.clock import Clock, SystemClock
from abacus.engage.notify.channels.port import Channel
from abacus.engage.notify.decide.contact import NO_POLICIES, Policies, Stopped, none_stopped
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage
from abacus.engage.notify.decide.news import Earned
from abacus.engage.notify.decide.notice import Notice
from abacus.engage.notify.decide.pace import read_rates
from abacus.engage.notify.decide.template import FilledTemplate
from abacus.engage.notify.notices import Gathered, Notices
from abacus.engage.notify.outbox import NotificationOutbox
from abacus.engage.notify.renderer import Renderer
from abacus.engage.notify.sender import notification_sender
from abacus.engage.notify.templates import load_templates
from abacus.platform.delivery.types import Answer, Said
from abacus.platform.health import WorkerHealth
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Pool
from tests.support.house import until
from tests.support.slices import SLICES

CLOCK = SystemClock()
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
TEMPLATES = load_templates(None)
SECRET = "whsec_" + "QUJD" * 10 + "QQ=="
LOG = (ChannelName.LOG,)
AT_ONCE = timedelta(0)


def earned(member: str, seq: int, points: int = 10, at: datetime = NOW) -> Notice:
    news = Earned(program="GRP", country="SG", points=points, count=1, balance=seq * 10, expires_on=date(2026, 12, 31))
    return Notice(member, f"{member}:GRP:{seq}", at, seq, news)


class Notepad:
    """A channel that keeps its messages, and answers as the test says."""

    def __init__(self, name: ChannelName = ChannelName.LOG) -> None:
        self.name = name
        self.answer = Answer(Said.ACCEPTED)
        self.told: list[OutgoingMessage] = []
        self.times: list[datetime] = []
        self.down_for: set[str] = set()

    async def send(self, outgoing: OutgoingMessage) -> Answer:
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
    stopped: Stopped = none_stopped,
) -> AsyncIterator["asyncio.Task[None]"]:
    stop, renderer = asyncio.Event(), Renderer()
    await renderer.render([FilledTemplate("Hi\nThere", "en", {})])  # its process has started by now
    pace = Pace(read_rates(rates)[channel.name], ZoneInfo("UTC"))
    sender = notification_sender(
        channel,
        TEMPLATES,
        renderer,
        NotificationOutbox(pool, clock, channel.name, pace),
        clock=clock,
        health=WorkerHealth("notifier"),
        park_after=park_after,
        stopped=stopped,
        rng=random.Random(1),
        backoff=Backoff(first_s=0.02, longest_s=0.05),
    )
    running = asyncio.create_task(sender.run(stop))
    try:
        yield running
    finally:
        stop.set()
        await asyncio.wait((running,))
        await renderer.close()
        if not running.cancelled():
            running.result()


async def count(pool: Pool, column: str) -> int:
    return int(await pool.fetchval(f"select count(*) from notification where {column} is not null"))


async def settled(pool: Pool, column: str, wanted: int) -> None:
    async def reached() -> bool:
        return await count(pool, column) >= wanted

    await until(reached)


async def enter_and_gather(
    pool: Pool, *notices: Notice, channels: tuple[ChannelName, ...] = LOG, clock: Clock = CLOCK
) -> None:
    store = Notices(pool, clock)
    await store.enter(notices, gathered_for=AT_ONCE)
    await gather(store, channels)


async def gather(
    notices: Notices,
    channels: tuple[ChannelName, ...] = LOG,
    policies: Policies = NO_POLICIES,
    stopped: Stopped = none_stopped,
) -> Gathered:
    """In all slices."""
    gathered = [await notices.gather(number, channels, policies, stopped) for number in range(SLICES)]
    return Gathered(
        sum(each.notices for each in gathered),
        sum(each.notifications for each in gathered),
        [put_off for each in gathered for put_off in each.put_off],
        [untold for each in gathered for untold in each.untold],
    )
