"""`abacus status` and `abacus queues list`, on a house that works, that stands still, and that cannot be reached."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from abacus.core.clock import SystemClock
from abacus.ledger.store.post import PostgresLedger
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import ProcessNote, Report, WorkerNote
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from tests.support.commands import DOWN, Ran, abacus
from tests.support.forgetting import granted
from tests.support.house import House, completed, until

_PARKED = """
insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at, parked_at)
values ('bob', 'm', 'log', 'en', '[]', $1, $1, $1), ('bob', 'n', 'log', 'en', '[]', $1, $1, null)
"""
_WAITING = """
insert into webhook_delivery (message_id, partner_id, member_id, type, body, created_at, due_at, retry_until)
values ('m', 'acme', 'bob', 'award.posted', '{}', $1, $1, $1)
"""


async def status(house: House, *options: str, **changed: str) -> Ran:
    return await abacus("status", *options, env=house.environment() | changed)


@pytest.mark.long
async def test_a_house_that_works_and_one_that_was_stopped(house: House) -> None:
    async with house.running("calculator", "retrier", "awarder", "expirer", "relay", "tierkeeper") as health:
        await house.produce([completed(1, occurred_at=SystemClock().now().isoformat())])
        await until(lambda: asyncio.sleep(0, health.ready))
        await until(lambda: _has_posted(house))

        async def well() -> bool:
            return (await status(house, "--json")).json["ok"] is True

        await until(well)
        ran = await status(house)
        assert (ran.code, ran.out.splitlines()[-1]) == (0, "all is well")
        document = (await status(house, "--json")).json
        assert {each["worker"] for each in document["workers"]} >= {"awarder", "tierkeeper"}
        assert {each["group"].rpartition("-")[2]: each["messages"] for each in document["groups"]} == {
            "calculator": 0,
            "tierkeeper": 0,
        }
        assert document["relay"]["waiting"] == 0

        async def cards_are_known() -> bool:
            age_s = (await status(house, "--json")).json["rate_cards_age_s"]
            return age_s is not None and 0 < age_s < 60

        await until(cards_are_known)
    stopped = await status(house)
    assert stopped.code == 1
    assert "WRONG: no process runs the worker awarder: start one: abacus worker awarder" in stopped.out


@pytest.mark.long
async def test_what_stands_still_is_told(house: House) -> None:
    now = SystemClock().now()
    await PostgresLedger(house.pool, SystemClock()).post([granted("txn:taxi:T1")])
    await house.produce([b"not json"] * 3)
    report = Report(
        {"awarder": WorkerNote("waiting", "database: away")},
        {"service score": "no answer"},
        {house.settings.queue_prefix + AWARD: 400.0},
        None,
    )
    await Presence(house.pool, SystemClock()).note(
        ProcessNote(UUID(int=1), "host", 1, "0.1.0", now, now - timedelta(seconds=1), report.text)
    )
    async with sqs_client(house.settings.sqs_endpoint_url) as client:
        letters = await SqsQueue.find(client, f"{house.settings.queue_prefix}{RETRY}-dlq")
        await letters.send(["spoiled"])
        queue = await SqsQueue.find(client, house.settings.queue_prefix + AWARD, wait_s=1)
        await queue.send(["a", "b"])
        await queue.receive()
        await queue.send(["later"], delay_s=600)
        await queue.send(["waits"])
    for left in (_PARKED, _WAITING):
        await house.pool.execute(left, now)
    document = (await status(house, "--json")).json
    faults = "\n".join(each["fault"] for each in document["problems"])
    prefix = house.settings.queue_prefix
    assert "the worker awarder on host (pid 1) waits: database: away" in faults
    assert "a process on host (pid 1) does without service score: no answer" in faults
    assert document["without"] == [{"dependency": "service score", "host": "host", "pid": 1, "why": "no answer"}]
    assert f"the oldest message of {prefix}award is 400 s old" in faults
    assert f"{prefix}retry-dlq holds 1 dead letters" in faults
    assert document["relay"]["waiting"] == 1
    assert "1 notifications are parked" in faults
    assert (document["undelivered"]["parked"], document["undelivered"]["webhooks"]) == (1, 1)
    assert {each["group"]: each["messages"] for each in document["groups"]} == {f"{prefix}calculator": 3}

    [award] = [
        each
        for each in (await abacus("queues", "list", "--json", env=house.environment())).json
        if each["queue"] == f"{prefix}award"
    ]
    assert award == {
        "queue": f"{prefix}award",
        "waiting": 1,
        "in_flight": 2,
        "delayed": 1,
        "oldest_s": 400.0,
        "dead_letters": False,
    }
    shown = await abacus("queues", "list", env=house.environment())
    assert "400 s" in shown.out
    assert "Done without" in (await status(house)).out
    waits = [
        "notifications: 1 parked",
        "offers: 0 in force, 0 spent, 0 unfit, 0 reservations wait, 0 awards wait",
        "rewards: 0 redemptions late, 0 not gone on with, 0 pools of codes low",
        "webhooks: 1 messages wait",
    ]
    assert "\n".join(waits) in (await status(house)).out


@pytest.mark.long
async def test_what_cannot_be_reached_is_unknown(house: House) -> None:
    ran = await status(
        house,
        ABACUS_DATABASE_URL=DOWN,
        ABACUS_KAFKA_BOOTSTRAP="127.0.0.1:1",
        ABACUS_SQS_ENDPOINT_URL="http://127.0.0.1:1",
    )
    assert ran.code == 2
    lines = [line for line in ran.out.splitlines() if line.startswith("UNKNOWN: ")]
    assert [line.split(": ")[1] for line in lines] == ["database", "queues", "groups"]


async def _has_posted(house: House) -> bool:
    return await house.transfers() == 1
