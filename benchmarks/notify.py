"""From events to messages: how fast notices are entered, gathered and sent, and made of points that will expire.

Events come in batches as the reader gives them; the channel answers at once and has no limit but the highest pace.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import orjson

from abacus.cli.examples import example_cards
from abacus.core.clock import SystemClock
from abacus.engage.notify.decide.contact import none_stopped
from abacus.engage.notify.decide.contact_document import parse_policy
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage
from abacus.engage.notify.decide.news import Campaigned, CampaignWords
from abacus.engage.notify.decide.notice import Notice
from abacus.engage.notify.decide.pace import read_rates
from abacus.engage.notify.expiry_notices import ExpiryReminders
from abacus.engage.notify.listener import Listener
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.outbox import NotificationOutbox
from abacus.engage.notify.renderer import Renderer
from abacus.engage.notify.sender import notification_sender
from abacus.engage.notify.templates import load_templates
from abacus.platform.delivery.types import Answer, Said
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.reader import Record
from abacus.platform.migrations import migrate
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Pool, open_pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from benchmarks.ratio import ratio_of
from benchmarks.report import Figure, rate

EVENTS: Final = 60_000
MEMBERS: Final = 12_000
BATCH: Final = 2000
ACCOUNTS: Final = 100_000
CAPPED: Final = 2 * MEMBERS  # notices of a round
CAPPED_ROUNDS: Final = 6
CLOCK: Final = SystemClock()

# A stand-in for an index that the ledger may have; it does no harm if the index is there already.
_INDEX: Final = """
create index if not exists account_country_expires_on_member_id_program_idx
on account (country, expires_on, member_id, program)
"""
_EXPIRING: Final = """
insert into account (member_id, program, country, balance, expires_on)
select 'e' || n, 'GRP', 'SG', 100, current_date + 20 from generate_series(1, $1::int) n
"""


class _Silent:
    """A channel that accepts everything."""

    name = ChannelName.LOG

    async def send(self, _: OutgoingMessage) -> Answer:
        return Answer(Said.ACCEPTED)


async def measure(directory: Path) -> list[Figure]:
    async with EmbeddedStack(directory, sqs=False, kafka=False) as stack:
        url = stack.database_url or ""
        await migrate(url)
        owner = await open_pool(url, size=1, role=None)
        await owner.execute(_INDEX)
        await owner.execute(_EXPIRING, ACCOUNTS)
        await owner.execute("vacuum analyze account")
        await owner.close()
        pool = await open_pool(url, size=6)
        figures = await _measure(pool)
        await pool.close()
    return figures


async def _measure(pool: Pool) -> list[Figure]:
    notices = Notices(pool, CLOCK)
    listener = Listener(pool, notices, CLOCK, WorkerHealth("notifier"), gathered_for=timedelta(0))
    records = _records()
    batches = [records[start : start + BATCH] for start in range(0, len(records), BATCH)]
    entering = await _timed([listener.handle(batch) for batch in batches])
    again = await _timed([listener.handle(batch) for batch in batches])
    began, messages = time.perf_counter(), 0
    while (gathered := await notices.gather(0, (ChannelName.LOG,))).notices:
        messages += gathered.notifications
    gathering = time.perf_counter() - began
    sending = await _send_all(pool)
    without, under = await _under_a_cap(notices)
    job = ExpiryReminders(pool, notices, CLOCK, gathered_for=timedelta(0))
    book = CardBook(PublishedCard(card, 1) for card in example_cards())
    began = time.perf_counter()
    (done,) = await job.run(book, "SG")
    expiring = time.perf_counter() - began
    began = time.perf_counter()
    await job.run(book, "SG")
    expiring_again = time.perf_counter() - began
    return [
        Figure("notifier, events entered as notices, one process", rate(EVENTS / entering, "events")),
        Figure("… the same events again", rate(EVENTS / again, "events"), f"{entering / again:.1f} times new ones"),
        Figure("… gathered into messages, five to one", rate(EVENTS / gathering, "events"), f"{messages:,} messages"),
        Figure("… sent over a channel that answers at once", rate(messages / sending, "messages")),
        Figure(
            "what campaigns say, gathered under a cap on it",
            rate(CAPPED / statistics.median(under), "notices"),
            f"{ratio_of(without, under)} times as long as without a policy",
        ),
        Figure(
            f"notices of points that will expire, {done.entered:,} accounts",
            rate(done.entered / expiring, "members"),
            f"{expiring / expiring_again:.1f} times as long as running it again",
        ),
    ]


async def _under_a_cap(notices: Notices) -> tuple[list[float], list[float]]:
    """The seconds of gathering without a policy, and by one whose cap has room for everything: by turns."""
    policy = parse_policy({"country": "SG", "timezone": "Asia/Singapore", "caps": {"log": {"promotion": "1000 a day"}}})
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for number in range(2 * CAPPED_ROUNDS):
        is_capped = bool(number % 2)
        await notices.enter(_said(number), gathered_for=timedelta(0))
        policies = {policy.country: policy.numbered(1)} if is_capped else {}
        began = time.perf_counter()
        while (await notices.gather(0, (ChannelName.LOG,), policies)).notices:
            pass
        seconds[is_capped].append(time.perf_counter() - began)
    return seconds[False], seconds[True]


def _said(round_: int) -> list[Notice]:
    """Two things of campaigns to each member."""
    now, words = CLOCK.now(), {"en": CampaignWords(title="Autumn", text="It is here.")}
    keys = [f"campaign:autumn:app:opened:{round_}-{number}:1/0" for number in range(CAPPED)]
    return [
        Notice(f"m{n % MEMBERS}", key, now, 0, Campaigned(campaign="autumn", key=key, country="SG", words=words))
        for n, key in enumerate(keys)
    ]


async def _timed(work: Sequence[Awaitable[object]]) -> float:
    began = time.perf_counter()
    for each in work:
        await each
    return time.perf_counter() - began


async def _send_all(pool: Pool) -> float:
    stop = asyncio.Event()
    pace = Pace(read_rates("log=100000/s")[ChannelName.LOG], ZoneInfo("UTC"))
    renderer = Renderer()
    sender = notification_sender(
        _Silent(),
        load_templates(None),
        renderer,
        NotificationOutbox(pool, CLOCK, ChannelName.LOG, pace),
        clock=CLOCK,
        health=WorkerHealth("notifier"),
        park_after=timedelta(hours=1),
        stopped=none_stopped,
        rng=random.Random(1),
    )
    began = time.perf_counter()
    running = asyncio.create_task(sender.run(stop))
    while await pool.fetchval("select exists (select from notification where sent_at is null)"):  # noqa: ASYNC110  # the sender sets no event
        await asyncio.sleep(0.05)
    took = time.perf_counter() - began
    stop.set()
    await running
    await renderer.close()
    return took


def _records() -> list[Record]:
    """Five events of each member, one after the other of all members."""
    now = CLOCK.now()
    return [
        Record(
            orjson.dumps(
                {
                    "id": f"m{number % MEMBERS}:GRP:{number // MEMBERS + 1}",
                    "type": "abacus.points.earned.v1",
                    "time": now,
                    "data": {
                        "member_id": f"m{number % MEMBERS}",
                        "program": "GRP",
                        "country": "SG",
                        "seq": number // MEMBERS + 1,
                        "key": f"txn:rides:{number}",
                        "kind": "earn",
                        "points": 10,
                        "balance": 100,
                        "occurred_at": now,
                        "expires_on": "2026-12-31",
                        "explanation": {"amount": "15.00"},
                    },
                }
            ),
            "points",
            0,
            number,
        )
        for number in range(EVENTS)
    ]
