"""A transaction's whole way: from the topic to the ledger to the points stream."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer

from abacus.cli.examples.stream import BOB, JANE, stream
from abacus.cli.ledger.explain import explained
from abacus.core.clock import SystemClock
from abacus.core.errors import Reason
from abacus.core.points import Rounding
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.point_event import PointEvent
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.tiers.store import MembershipStore
from tests.support.cards import times
from tests.support.house import House, completed, until
from tests.support.logged import card_logged, tier_logged
from tests.support.outcomes import verified


@pytest.mark.long
async def test_bob_and_jane_are_posted_explained_and_published(house: House) -> None:
    memberships = MembershipStore(house.pool, SystemClock())
    for account, tier in ((("bob", "GRP"), "platinum"), (("jane", "OVO"), "gold")):
        await memberships.set(account, tier, reason="test", actor="test", also=tier_logged(*account, tier))
    await house.produce([BOB, JANE])
    async with house.running():
        await until(lambda: _count(house, 2))
        events = await _published(house, 2)

    reader = LedgerReader(house.pool)
    bob, jane = [await reader.accounts(member) for member in ("bob", "jane")]
    assert [(a.program, a.balance, a.last_seq, str(a.expires_on)) for a in bob] == [("GRP", 180, 1, "2026-11-30")]
    assert [(a.program, a.balance, a.last_seq, str(a.expires_on)) for a in jane] == [("OVO", 60, 1, "2026-08-31")]
    claim = await reader.claim("txn:meals:T-BOB")
    transfer = await reader.transfer(claim) if claim else None
    assert transfer is not None
    assert json.loads(transfer.explanation) == {
        "v": 1,
        "amount": "15.00",
        "currency": "SGD",
        "card": "SG@1",
        "factors": [
            ["vertical", "food", "2"],
            ["eppf", "SG", "1"],
            ["cashless", "wallet", "2"],
            ["tier", "platinum", "3"],
        ],
        "product": "180.00",
        "rounding": "floor",
        "points": 180,
    }
    assert explained(transfer, None)[0] == "txn:meals:T-BOB: 180 points (GRP) for bob"
    assert sorted((event.id, event.subject, event.data.points) for event in events) == [
        ("bob:GRP:1", "bob", 180),
        ("jane:OVO:1", "jane", 60),
    ]
    assert await verified(house)


async def test_every_golden_case_comes_out_of_the_ledger_as_it_is_written(house: House, golden: Path) -> None:
    """Each transaction happens on a day of its own, and from that day on a card of its own is in force."""
    rows = json.loads((golden / "points.json").read_text("utf-8"))
    book, store, began = (
        CardBook(await CardStore(house.pool).all()),
        CardStore(house.pool),
        datetime(2026, 2, 1, tzinfo=UTC),
    )
    sent: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        day = began + timedelta(days=number)
        card = replace(
            book.in_force(row["country"], day).card,
            currency=row["currency"],
            effective_from=day,
            eppf=times(row["eppf"]),
            rounding=Rounding(row["rounding"]),
            verticals={"v": times(row["vertical"])},
            payment_types={"p": times(row["cashless"])},
            tiers={"member": times(row["tier"])},
            tier_policy=None,
        )
        await store.publish(card, by="tests", now=SystemClock().now(), also=card_logged(card))
        facts = {"country": row["country"], "currency": row["currency"], "amount": row["amount"]}
        sent.append(completed(number, **facts, vertical="v", payment_type="p", occurred_at=day.isoformat()))
    async with house.running():
        await house.produce(sent)
        await until(lambda: _count(house, len(rows)))
    reader = LedgerReader(house.pool)
    for number, row in enumerate(rows):
        claim = await reader.claim(f"txn:rides:T-{number}")
        transfer = await reader.transfer(claim) if claim else None
        assert transfer is not None, row["name"]
        explanation = json.loads(transfer.explanation)
        assert (transfer.points, explanation["points"]) == (row["points"], row["points"]), row["name"]
        assert (explanation["product"], explanation["rounding"]) == (row["product"], row["rounding"]), row["name"]
    assert await verified(house)


@pytest.mark.long
async def test_the_same_two_thousand_again_award_nothing_new(house: House) -> None:
    messages = list(stream(2000))
    expected = {sent.award for sent in messages if sent.award is not None}
    async with house.running():
        await house.produce(messages)
        await until(lambda: _count(house, len(expected)))
        await house.produce(messages)
        await house.produce([completed(1, transaction_id="LAST")])
        await until(lambda: _count(house, len(expected) + 1))
    keys = {row["key"] for row in await house.pool.fetch("select key from claim")}
    assert keys == expected | {"txn:rides:LAST"}
    assert await house.transfers() == len(expected) + 1
    assert await verified(house)


BAD: dict[str, tuple[bytes | dict[str, Any], Reason]] = {
    "not json": (b"{not json", Reason.UNDECODABLE),
    "not utf-8": (b"\xff\xfe\x00", Reason.UNDECODABLE),
    "empty": (b"", Reason.UNDECODABLE),
    "nested": (b"[" * 60_000, Reason.UNDECODABLE),
    "too large": (b"x" * 100_000, Reason.UNDECODABLE),
    "float amount": (completed(1, amount=10.5), Reason.INVALID),
    "no member": (completed(1, member_id=""), Reason.INVALID),
    "country": (completed(1, country="XX"), Reason.UNKNOWN_COUNTRY),
    "vertical": (completed(1, vertical="yachts"), Reason.UNKNOWN_VERTICAL),
    "payment type": (completed(1, payment_type="shells"), Reason.UNKNOWN_PAYMENT_TYPE),
    "currency": (completed(1, currency="EUR"), Reason.UNKNOWN_CURRENCY),
    "before any card": (completed(1, occurred_at="2020-01-01T00:00:00Z"), Reason.NO_CARD_IN_FORCE),
    "other facts": (completed(2, amount="99.00"), Reason.KEY_CONFLICT),
}


async def test_every_bad_message_is_set_aside_whole_and_holds_up_nothing(house: House) -> None:
    async with house.running():
        await house.produce([completed(2)])
        await until(lambda: _count(house, 1))
        await house.produce([message for message, _ in BAD.values()])
        await house.produce([completed(3), completed(4, type="nobody.lists.this")])
        await until(lambda: _count(house, 2))
        await until(lambda: _set_aside(house, len(BAD)))
    rows = await house.pool.fetch("select body, origin, reason, fingerprint, posted_fingerprint from quarantine")
    kept = {bytes(row["body"]): Reason(row["reason"]) for row in rows}
    for name, (message, reason) in BAD.items():
        if reason is not Reason.KEY_CONFLICT:
            body = message if isinstance(message, bytes) else json.dumps(message).encode()
            assert kept.get(body) is reason, name
            assert all(row["origin"].startswith("kafka:") for row in rows if bytes(row["body"]) == body)
    conflict = next(row for row in rows if row["reason"] == Reason.KEY_CONFLICT)
    assert conflict["fingerprint"]
    assert conflict["posted_fingerprint"]
    assert conflict["fingerprint"] != conflict["posted_fingerprint"]
    assert await verified(house)


async def test_fixed_awards_come_from_the_card(house: House) -> None:
    cancelled = {
        name: value
        for name, value in completed(5, type="booking.cancelled_by_driver", source="bookings").items()
        if name not in {"vertical", "payment_type", "amount", "currency"}
    }
    async with house.running("calculator", "awarder"):
        await house.produce([cancelled, cancelled])
        await until(lambda: _count(house, 1))
    row = await house.pool.fetchrow("select key, points, explanation from transfer")
    assert row["key"] == "event:bookings:booking.cancelled_by_driver:T-5"
    assert json.loads(row["explanation"]) == {
        "v": 1,
        "fixed": "booking.cancelled_by_driver",
        "card": "SG@1",
        "points": row["points"],
    }
    assert await verified(house)


async def _set_aside(house: House, count: int) -> bool:
    return int(await house.pool.fetchval("select count(*) from quarantine")) >= count


async def _count(house: House, transfers: int) -> bool:
    return await house.transfers() >= transfers


async def _published(house: House, count: int) -> list[PointEvent]:
    consumer = AIOKafkaConsumer(
        house.settings.points_topic,
        bootstrap_servers=house.settings.kafka_bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    await consumer.start()
    try:
        events: list[PointEvent] = []

        async def enough() -> bool:
            batch = await consumer.getmany(timeout_ms=100)
            events.extend(PointEvent.model_validate_json(m.value or b"") for ms in batch.values() for m in ms)
            return len(events) >= count

        await until(enough)
        return events
    finally:
        await consumer.stop()
