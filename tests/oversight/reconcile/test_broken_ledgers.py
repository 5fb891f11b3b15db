"""Reconciling names each fault, in the database and on the points topic."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.oversight.reconcile.decide.account import Finding
from abacus.oversight.reconcile.decide.verdict import Verdict
from abacus.platform.kafka.publisher import StreamMessage, StreamPublisher
from abacus.platform.kafka.window import TopicWindow
from tests.oversight.reconcile.reconciling import LONG_AGO, MESSAGES, SECOND_TRANSFER, account, as_owner, processed
from tests.support.house import House

LOSE_T1 = (
    "delete from claim where key = 'txn:rides:T-1'",
    "delete from transfer where key = 'txn:rides:T-1'",
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


# Statements of somebody with the owner's rights, and the findings that follow: kind, name.
BROKEN: dict[str, tuple[Sequence[str], set[tuple[Finding, str]]]] = {
    "an award and its claim are gone": (
        LOSE_T1,
        {(Finding.MISSING, "txn:rides:T-1"), (Finding.UNKNOWN, "txn:rides:T-1")},
    ),
    "a transfer is gone": (
        LOSE_T1[1:],
        {(Finding.MISSING, "txn:rides:T-1"), (Finding.UNKNOWN, "txn:rides:T-1")},
    ),
    "a claim is gone": (
        LOSE_T1[:1],
        {(Finding.MISSING, "txn:rides:T-1"), (Finding.UNCLAIMED, "txn:rides:T-1")},
    ),
    "a quarantined item is gone": (
        ["delete from quarantine where reason = 'unknown-vertical'"],
        {(Finding.MISSING, "txn:rides:T-6")},
    ),
    "a quarantined item that has no key is gone": (
        ["delete from quarantine where id = (select min(id) from quarantine where reason = 'undecodable')"],
        {(Finding.MISSING, "(no key)")},
    ),
    "a quarantined conflict is gone": (
        ["delete from quarantine where reason = 'key-conflict'"],
        {(Finding.MISSING, "txn:rides:T-1")},
    ),
    "a partner's award is gone": (
        ["delete from claim where key = 'api:acme:a-1'", "delete from transfer where key = 'api:acme:a-1'"],
        {(Finding.MISSING, "api:acme:a-1"), (Finding.UNKNOWN, "api:acme:a-1")},
    ),
    "a key is posted twice": ([SECOND_TRANSFER], {(Finding.DOUBLED, "txn:rides:T-1")}),
    "points are made from nothing": (
        posted_by_hand("txn:rides:T-NEVER-SENT"),
        {(Finding.WITHOUT_SOURCE, "txn:rides:T-NEVER-SENT")},
    ),
    "points that no partner asked for": (
        posted_by_hand("api:acme:never"),
        {(Finding.WITHOUT_SOURCE, "api:acme:never")},
    ),
    "the relay left one out": (
        [*posted_by_hand("import:old:eve:GRP"), RELAY_IS_PAST_IT],
        {(Finding.NOT_PUBLISHED, "import:old:eve:GRP")},
    ),
    "points are changed": (
        ["update transfer set points = 1000 where key = 'txn:rides:T-1'"],
        {(Finding.UNKNOWN, "txn:rides:T-1")},
    ),
    "the relay has not come to one yet": (posted_by_hand("import:old:eve:GRP"), set()),
    "nothing": ([], set()),
}


@pytest.mark.long
async def test_what_is_broken_in_the_database_is_named(house: House, database_url: str) -> None:
    """One thing after another, and each is mended before the next."""
    async with processed(house):
        await as_owner(database_url, *(f"create table kept_{name} as table {name}" for name in TOUCHED))
        for name, (statements, expected) in BROKEN.items():
            await as_owner(database_url, *statements)
            report = await account(house)
            assert {(each.what, each.name) for each in report.findings} == expected, name
            assert report.comes_out == (not expected), name
            assert all(each.counted == each.other for each in report.sums), name
            assert report.verdicts.total() == len(MESSAGES) + 1, name
            await as_owner(
                database_url, *(f"delete from {each}; insert into {each} table kept_{each}" for each in TOUCHED)
            )


@pytest.mark.long
async def test_what_is_broken_on_the_points_topic_is_named(house: House) -> None:
    async with processed(house):
        [told] = [event for event in await _events(house) if event["data"]["key"] == "txn:rides:T-1"]
        again = {**told, "data": {**told["data"], "seq": 77}}
        await _tell(house, json.dumps(told).encode(), json.dumps(again).encode(), b"{not json")
        report = await account(house)
    assert [(each.what, each.name) for each in report.findings] == [
        (Finding.DOUBLED, "txn:rides:T-1"),  # two transfers are told of under the key
        (Finding.DOUBLED, "txn:rides:T-1"),  # and this is the message
        (Finding.UNKNOWN, "txn:rides:T-1"),
        (Finding.UNKNOWN, "an event that cannot be read"),
    ]
    assert report.verdicts[Verdict.DOUBLED] == 1
    assert (report.published.again, report.published.unknown, report.published.unreadable) == (1, 1, 1)


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
