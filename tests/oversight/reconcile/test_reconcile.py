"""Reconciling on the real stack: a stream with every misfortune comes out; and each thing that is broken is named."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from aiokafka import AIOKafkaProducer

from abacus.core.clock import SystemClock
from abacus.ledger.relay.cursor import RelayCursor
from abacus.oversight.reconcile.decide.account import Account, What
from abacus.oversight.reconcile.decide.verdict import Verdict
from abacus.oversight.reconcile.waiting import QueueCounts
from abacus.oversight.reconcile.window import Reconciliation, Streams
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.kafka.window import TopicWindow, committed
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import parse_toml
from abacus.pricing.store.cards import CardStore
from tests.support.commands import abacus
from tests.support.fixed_clock import FixedClock
from tests.support.house import House, completed, until
from tests.support.shop import award, register, shop

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


async def account(
    house: House, start: datetime = LONG_AGO, end: datetime | None = None, *, later: timedelta = timedelta(minutes=10)
) -> Account:
    """As it is seen some time from now, when what has no trace yet will get none any more."""
    now = SystemClock().now()
    settings = house.settings
    streams = Streams(
        settings.required("kafka_bootstrap"),
        settings.transactions_topic,
        settings.points_topic,
        f"{settings.queue_prefix}calculator",
    )
    async with sqs_client(settings.sqs_endpoint_url) as client:
        return await Reconciliation(
            house.pool,
            streams,
            QueueCounts(client, settings.queue_prefix),
            CardBook(await CardStore(house.pool).all()),
            FixedClock(now + later),
            retried_for=timedelta(hours=24),
            look_back=timedelta(hours=24),
        ).account(start, end or now + later)


MESSAGES: list[dict[str, Any] | bytes] = [
    completed(1),
    completed(2),
    completed(2, amount="10.0"),  # written otherwise, and the same
    completed(2),
    completed(3, source="meals"),
    completed(4, type="nobody.lists.this"),
    completed(5, type="booking.cancelled_by_driver"),
    completed(6, vertical="yachts"),
    completed(7, country="XX"),
    b"{not json",
    b"{not json",
]


@asynccontextmanager
async def processed(house: House) -> AsyncIterator[None]:
    """The messages have come to their ends: four transfers, one of them a partner's, and five items set aside."""
    async with shop(house, "calculator", "retrier", "awarder", "relay") as opened:
        acme = await opened.caller(await register(house))
        await house.produce(MESSAGES)
        await award(acme, "a-1")
        await until(lambda: _done(house, transfers=5, held=4))
        await house.produce([completed(1, amount="99.00")])
        await until(lambda: _done(house, transfers=5, held=5))
        await until(lambda: _published(house))
    yield


async def _done(house: House, *, transfers: int, held: int) -> bool:
    counts = await house.pool.fetchrow("select (select count(*) from transfer), (select count(*) from quarantine)")
    return tuple(counts) == (transfers, held)


async def _published(house: House) -> bool:
    return await RelayCursor(house.pool, house.settings.points_topic, SystemClock()).waiting() == 0


async def test_a_stream_with_every_misfortune_comes_out(house: House) -> None:
    async with processed(house):
        found = await account(house)
    assert found.findings == []
    assert found.comes_out
    assert found.whole
    assert found.messages == len(MESSAGES) + 1
    assert found.verdicts == {
        Verdict.AWARDED: 4,
        Verdict.DUPLICATE: 2,
        Verdict.IGNORED: 1,
        Verdict.QUARANTINED: 5,
    }
    assert found.reasons == {"unknown-vertical": 1, "unknown-country": 1, "undecodable": 2, "key-conflict": 1}
    assert {name: line.total for name, line in found.sources.items()} == {"rides": 9, "meals": 1, "(unreadable)": 2}
    points = int(await house.pool.fetchval("select sum(points) from transfer where key not like 'api:%'"))
    assert sum(line.points for line in found.sources.values()) == points
    assert {name: (line.verdicts, line.points) for name, line in found.partners.items()} == {
        "acme": ({Verdict.AWARDED: 1}, 100)
    }
    assert [(each.kind, each.origin, each.transfers) for each in found.posted] == [
        ("earn", "messages of the window", 4),
        ("earn", "partners", 1),
    ]
    assert found.published._asdict() == {
        "transfers": 5,
        "there": 5,
        "again": 0,
        "not_yet": 0,
        "missing": 0,
        "unknown": 0,
        "unreadable": 0,
    }
    assert (found.queues, found.on_the_way) == ((0, 0, 0), 0)


async def test_refunds_are_accounted_for_as_what_they_refund_is(house: House) -> None:
    refund = completed(1, type="transaction.refunded", refund_id="R-1", amount="5.00")
    async with house.running("calculator", "retrier", "awarder", "relay"):
        await house.produce([completed(1)])
        await until(lambda: _done(house, transfers=1, held=0))
        await house.produce([refund, refund, refund | {"amount": "6.00"}])
        await until(lambda: _done(house, transfers=2, held=1))
        await until(lambda: _published(house))
        found = await account(house)
    assert found.findings == []
    assert found.comes_out
    assert found.verdicts == {Verdict.AWARDED: 2, Verdict.DUPLICATE: 1, Verdict.QUARANTINED: 1}
    assert [(each.kind, each.transfers, each.points) for each in found.posted] == [("earn", 1, 20), ("reverse", 1, -10)]


async def _as_owner(database_url: str, *statements: str) -> None:
    """As somebody who can switch triggers off."""
    connection = await asyncpg.connect(database_url)
    try:
        await connection.execute("set session_replication_role = replica")
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


LOSE_T1 = (
    "delete from claim where key = 'txn:rides:T-1'",
    "delete from transfer where key = 'txn:rides:T-1'",
)
SECOND_TRANSFER = (
    "insert into transfer select member_id, program, seq + 100, kind, points, balance_after, key, country, occurred_at,"
    " posted_at, expires_on, explanation, reverses, actor, pg_current_xact_id(), hash"
    " from transfer where key = 'txn:rides:T-1'"
)


def posted_by_hand(key: str) -> tuple[str, str]:
    transfer = (
        "insert into transfer (member_id, program, seq, kind, points, balance_after, key, country, occurred_at,"
        " posted_at, explanation, hash) values"
        f" ('eve', 'GRP', 1, 'earn', 5, 5, '{key}', 'SG', now(), now(), '{{}}', '')"
    )
    return (
        transfer,
        f"insert into claim values ('{key}', 'eve', 'GRP', 1, '00')",
    )


TOUCHED = ("claim", "transfer", "quarantine", "relay_cursor")
RELAY_IS_PAST_IT = "update relay_cursor set xid = (select max(xid) from transfer), member_id = 'zzz'"

# What somebody with the owner's rights does to the database, and what is found: kind, name.
BROKEN: dict[str, tuple[Sequence[str], set[tuple[What, str]]]] = {
    "an award and its claim are gone": (
        LOSE_T1,
        {(What.MISSING, "txn:rides:T-1"), (What.UNKNOWN, "txn:rides:T-1")},
    ),
    "a transfer is gone": (
        LOSE_T1[1:],
        {(What.MISSING, "txn:rides:T-1"), (What.UNKNOWN, "txn:rides:T-1")},
    ),
    "a claim is gone": (
        LOSE_T1[:1],
        {(What.MISSING, "txn:rides:T-1"), (What.UNCLAIMED, "txn:rides:T-1")},
    ),
    "a quarantined item is gone": (
        ["delete from quarantine where reason = 'unknown-vertical'"],
        {(What.MISSING, "txn:rides:T-6")},
    ),
    "a quarantined item that has no key is gone": (
        ["delete from quarantine where id = (select min(id) from quarantine where reason = 'undecodable')"],
        {(What.MISSING, "(no key)")},
    ),
    "a quarantined conflict is gone": (
        ["delete from quarantine where reason = 'key-conflict'"],
        {(What.MISSING, "txn:rides:T-1")},
    ),
    "a partner's award is gone": (
        ["delete from claim where key = 'api:acme:a-1'", "delete from transfer where key = 'api:acme:a-1'"],
        {(What.MISSING, "api:acme:a-1"), (What.UNKNOWN, "api:acme:a-1")},
    ),
    "a key is posted twice": ([SECOND_TRANSFER], {(What.DOUBLED, "txn:rides:T-1")}),
    "points are made from nothing": (
        posted_by_hand("txn:rides:T-NEVER-SENT"),
        {(What.WITHOUT_SOURCE, "txn:rides:T-NEVER-SENT")},
    ),
    "points that no partner asked for": (
        posted_by_hand("api:acme:never"),
        {(What.WITHOUT_SOURCE, "api:acme:never")},
    ),
    "the relay left one out": (
        [*posted_by_hand("import:old:eve:GRP"), RELAY_IS_PAST_IT],
        {(What.NOT_PUBLISHED, "import:old:eve:GRP")},
    ),
    "points are changed": (
        ["update transfer set points = 1000 where key = 'txn:rides:T-1'"],
        {(What.UNKNOWN, "txn:rides:T-1")},
    ),
    "the relay has not come to one yet": (posted_by_hand("import:old:eve:GRP"), set()),
    "nothing": ([], set()),
}


async def test_what_is_broken_in_the_database_is_named(house: House, database_url: str) -> None:
    """One thing after another, and each is mended before the next."""
    async with processed(house):
        await _as_owner(database_url, *(f"create table kept_{name} as table {name}" for name in TOUCHED))
        for name, (statements, expected) in BROKEN.items():
            await _as_owner(database_url, *statements)
            found = await account(house)
            assert {(each.what, each.name) for each in found.findings} == expected, name
            assert found.comes_out == (not expected), name
            assert all(each.counted == each.other for each in found.sums), name
            assert found.verdicts.total() == len(MESSAGES) + 1, name
            await _as_owner(
                database_url, *(f"delete from {each}; insert into {each} table kept_{each}" for each in TOUCHED)
            )


async def test_what_is_broken_on_the_points_topic_is_named(house: House) -> None:
    async with processed(house):
        [told] = [event for event in await _events(house) if event["data"]["key"] == "txn:rides:T-1"]
        again = {**told, "data": {**told["data"], "seq": 77}}
        await _tell(house, json.dumps(told).encode(), json.dumps(again).encode(), b"{not json")
        found = await account(house)
    assert [(each.what, each.name) for each in found.findings] == [
        (What.DOUBLED, "txn:rides:T-1"),  # two transfers are told of under the key
        (What.DOUBLED, "txn:rides:T-1"),  # and this is the message
        (What.UNKNOWN, "txn:rides:T-1"),
        (What.UNKNOWN, "an event that cannot be read"),
    ]
    assert found.verdicts[Verdict.DOUBLED] == 1
    assert (found.published.again, found.published.unknown, found.published.unreadable) == (1, 1, 1)


NOW, TOMORROW, IN_TWO_DAYS = timedelta(), timedelta(hours=20), timedelta(days=2)

# The queue that holds something, when it is looked, and what becomes of a message without a trace.
NO_TRACE: dict[str, tuple[str | None, timedelta, Verdict]] = {
    "sent just now": (None, NOW, Verdict.IN_FLIGHT),
    "nowhere": (None, TOMORROW, Verdict.MISSING),
    "on the award queue": (AWARD, TOMORROW, Verdict.IN_FLIGHT),
    "in retry": (RETRY, TOMORROW, Verdict.IN_RETRY),
    "in retry for longer than that can be": (RETRY, IN_TWO_DAYS, Verdict.MISSING),
    "among the dead letters": (f"{AWARD}-dlq", TOMORROW, Verdict.DEAD_LETTER),
}


@pytest.mark.parametrize(("queue", "later", "expected"), NO_TRACE.values(), ids=NO_TRACE)
async def test_what_has_no_trace_is_where_it_can_still_be(
    house: House, queue: str | None, later: timedelta, expected: Verdict
) -> None:
    await house.produce([completed(1)])
    assert (await account(house, later=TOMORROW)).verdicts == {Verdict.IN_FLIGHT: 1}  # nobody has read it
    async with house.running("calculator"):
        await until(lambda: _is_read(house))
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        award_queue = await SqsQueue.find(client, house.settings.queue_prefix + AWARD, wait_s=5)
        [envelope] = await award_queue.receive()
        await award_queue.delete([envelope])
        if queue is not None:
            await (await SqsQueue.find(client, house.settings.queue_prefix + queue)).send([envelope.body])
    found = await account(house, later=later)
    assert found.verdicts == {expected: 1}
    assert found.on_the_way == (expected in {Verdict.IN_FLIGHT, Verdict.IN_RETRY})
    assert found.comes_out == (found.on_the_way == 1)


ASKED = """
insert into partner_award (award_id, key, partner_id, member_id, program, country, points, occurred_at, expires_on,
    activity, fingerprint, explanation, asked_at, queued_at)
values (gen_random_uuid(), 'api:acme:' || $1, 'acme', 'bob', 'GRP', 'SG', 100, now(), '2027-01-31', false, 'aa', '{}',
    now(), case when $2 then now() end)
"""

REJECTION = """
insert into rejection (key, member_id, program, points, fingerprint, reason, detail, rejected_at)
values ('api:acme:' || $1, 'bob', 'GRP', 100, $2, 'budget-exhausted', '', now())
"""
ITEM = """
insert into quarantine (id, stage, origin, reason, detail, body, key, fingerprint, status, set_aside_at)
values ($1, 'award', '', 'out-of-range', '', '', 'api:acme:' || $1, 'aa', $2, now())
"""
CLAIM = "insert into claim values ('api:acme:' || $1, 'bob', 'GRP', 7, $2)"

# Whether the queue took it, what else there is of it, and what became of it.
ASKS: dict[str, tuple[bool, tuple[str, str] | None, Verdict]] = {
    "rejected": (True, (REJECTION, "aa"), Verdict.REJECTED),
    "rejected for other facts": (True, (REJECTION, "bb"), Verdict.MISSING),
    "held": (True, (ITEM, "held"), Verdict.QUARANTINED),
    "replayed, and gone": (True, (ITEM, "replayed"), Verdict.MISSING),
    "claimed for nothing": (True, (CLAIM, "aa"), Verdict.MISSING),
    "never sent": (False, None, Verdict.NOT_ACCEPTED),
    "gone": (True, None, Verdict.MISSING),
}


async def test_what_became_of_what_a_partner_asked_for(house: House) -> None:
    await house.produce([completed(1)])
    for name, (queued, written, _) in ASKS.items():
        await house.pool.execute(ASKED, name, queued)
        if written is not None:
            statement, value = written
            await house.pool.execute(statement, name, value)
    found = await account(house)
    expected = [verdict for _, _, verdict in ASKS.values()]
    assert found.asks == {verdict: expected.count(verdict) for verdict in expected}
    missing = {f"api:acme:{name}" for name, (_, _, verdict) in ASKS.items() if verdict is Verdict.MISSING}
    assert {(each.what, each.name, each.where) for each in found.findings} == {
        (What.MISSING, key, "asked for by acme") for key in missing
    }


async def test_a_transfer_that_is_not_published_yet_is_on_its_way(house: House) -> None:
    async with house.running("calculator", "awarder"):
        await house.produce([completed(1)])
        await until(lambda: _done(house, transfers=1, held=0))
    found = await account(house)
    assert (found.comes_out, found.on_the_way, found.published.not_yet) == (True, 1, 1)


async def test_windows_that_meet_share_no_message_and_leave_none_out(house: House) -> None:
    """The message is sent before midnight and posted after it; then it is sent again."""
    now = datetime.now(UTC)
    midnight = now - timedelta(seconds=20)
    await _send_stamped(house, [(midnight - timedelta(seconds=1), completed(1)), (now, completed(2))])
    async with house.running("calculator", "awarder", "relay"):
        await until(lambda: _done(house, transfers=2, held=0))
        await _send_stamped(house, [(now + timedelta(hours=1), completed(1))])
        await until(lambda: _is_read(house, 3))
        await until(lambda: _published(house))
    evening = await account(house, LONG_AGO, midnight)
    assert (evening.verdicts, evening.posted) == ({Verdict.AWARDED: 1}, [])
    morning = await account(house, midnight, later=timedelta(hours=2))
    assert morning.verdicts == {Verdict.AWARDED: 1, Verdict.DUPLICATE: 1}
    assert [(each.origin, each.transfers) for each in morning.posted] == [
        ("messages of the window", 1),
        ("messages outside the window", 1),
    ]
    assert (evening.findings, morning.findings) == ([], [])


async def test_what_was_replayed_is_the_source_of_its_transfer(house: House) -> None:
    """The message was sent long before; its transfer is of today."""
    sent_at = datetime.now(UTC) - timedelta(days=30)
    await _send_stamped(house, [(sent_at, completed(1, vertical="yachts"))])
    async with house.running("calculator"):
        await until(lambda: _done(house, transfers=0, held=1))
        shown = await abacus("rates", "show", "SG", "--toml", env=house.environment())
        card = parse_toml(shown.out.replace('food = "2"', 'food = "2"\nyachts = "10"'))
        await CardStore(house.pool).publish(card, by="tests", now=SystemClock().now())
    async with house.running("retrier", "awarder", "relay"):
        replayed = await abacus("quarantine", "replay", "--all", "--json", env=house.environment())
        assert len(replayed.json["replayed"]) == 1
        await until(lambda: _done(house, transfers=1, held=1))
        await until(lambda: _published(house))
    today = await account(house, datetime.now(UTC) - timedelta(days=1))
    assert [(each.origin, each.transfers) for each in today.posted] == [("messages outside the window", 1)]
    assert (today.messages, today.findings) == (0, [])
    assert (await account(house)).verdicts == {Verdict.AWARDED: 1}


async def test_the_command_files_the_account(house: House, database_url: str, tmp_path: Path) -> None:
    env, filed = house.environment(), tmp_path / "account.json"
    async with processed(house):
        command = ("reconcile", "--from", "2026-01-01T00:00:00+08:00", "--by", "finance")
        ran = await abacus(*command, "--out", str(filed), "--json", "--wait", "1", env=env)
        assert ran.code == 0
        assert ran.json == json.loads(filed.read_text())
        assert (ran.json["comes_out"], ran.json["by"], ran.json["from"]) == (
            True,
            "finance",
            "2025-12-31T16:00:00+00:00",
        )
        assert sum(each["messages"] for each in ran.json["partitions"]) == ran.json["messages"] == len(MESSAGES) + 1
        shown = await abacus(*command, env=env)
        assert "12 messages: it comes out" in shown.out
        await _as_owner(database_url, SECOND_TRANSFER)
        broken = await abacus(*command, env=env)
    assert broken.code == 1
    assert "doubled: txn:rides:T-1" in broken.out
    assert "IT DOES NOT COME OUT" in broken.out


async def test_waiting_ends_when_nothing_is_on_its_way(house: House) -> None:
    await house.produce([completed(1)])
    command = ("reconcile", "--from", "2026-01-01T00:00:00Z", "--by", "finance", "--json")
    at_once = await abacus(*command, env=house.environment())
    assert (at_once.code, at_once.json["verdicts"], at_once.json["on_the_way"]) == (0, {"in flight": 1}, 1)
    waiting = asyncio.create_task(abacus(*command, "--wait", "50", env=house.environment()))
    async with house.running("calculator", "awarder", "relay"):
        waited = await waiting
    assert (waited.code, waited.json["verdicts"], waited.json["on_the_way"]) == (0, {"awarded": 1}, 0)


REFUSED = {
    "to come": ("2126-01-01T00:00:00Z", None, "a window begins before it ends, and is over"),
    "backwards": ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "a window begins before it ends, and is over"),
    "no time": ("yesterday", None, "--from: 'yesterday' is not a time like"),
    "no offset": ("2026-01-01T00:00:00", None, "--from: '2026-01-01T00:00:00' has no offset"),
    "no topic": ("2026-01-01T00:00:00Z", None, "there is no topic"),
}


async def test_where_the_document_cannot_be_written_is_said_before_the_work(house: House, tmp_path: Path) -> None:
    nowhere = tmp_path / "none" / "account.json"
    ran = await abacus("reconcile", "--from", "2026-01-01T00:00:00Z", "--out", str(nowhere), env=house.environment())
    assert (ran.code, ran.err) == (2, f"abacus: --out: {nowhere}: No such file or directory\n")


@pytest.mark.parametrize(("start", "end", "line"), REFUSED.values(), ids=REFUSED)
async def test_what_is_no_window_is_refused(house: House, start: str, end: str | None, line: str) -> None:
    ran = await abacus("reconcile", "--from", start, *(["--to", end] if end else []), env=house.environment())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"abacus: {line}")
    assert ran.err.count("\n") == 1


async def _is_read(house: House, messages: int = 1) -> bool:
    settings = house.settings
    offsets = await committed(
        settings.required("kafka_bootstrap"), settings.transactions_topic, f"{settings.queue_prefix}calculator"
    )
    return sum(offsets.values()) == messages


async def _send_stamped(house: House, messages: Sequence[tuple[datetime, dict[str, Any]]]) -> None:
    async with AIOKafkaProducer(bootstrap_servers=house.settings.required("kafka_bootstrap")) as producer:
        for stamped_at, message in messages:
            await producer.send_and_wait(
                house.settings.transactions_topic,
                json.dumps(message).encode(),
                key=message["member_id"].encode(),
                timestamp_ms=int(stamped_at.timestamp() * 1000),
            )


async def _tell(house: House, *events: bytes) -> None:
    publisher = StreamPublisher(house.settings.required("kafka_bootstrap"))
    try:
        await publisher.publish(house.settings.points_topic, [StreamMessage(b"", event) for event in events])
    finally:
        await publisher.close()


async def _events(house: House) -> list[dict[str, Any]]:
    settings, now = house.settings, datetime.now(UTC)
    window = TopicWindow(settings.required("kafka_bootstrap"), settings.points_topic, LONG_AGO, now)
    return [json.loads(each.value) async for batch in window.batches() for each in batch]
