"""Abacus' own topics are sources from the start: their real messages become events."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given

from abacus.core.errors import Reason as Reasons
from abacus.core.errors import SetAside
from abacus.core.fields import DocumentFaults
from abacus.intake.earning.decide.transaction import read_transaction
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.point_event import TYPES, encode_event
from abacus.programs.tiers.decide.events import TYPE, encode_tier_changed
from abacus.programs.tiers.decide.tier_change import Change, Reason
from abacus.signals.events.decide.builtin import built_in
from abacus.signals.events.decide.event_reader import EventReader
from abacus.signals.events.decide.source import BUILT_IN, Source, parse_source, to_document
from abacus.signals.events.types import Event
from tests.signals.events.weather import EVENTS_TOPIC
from tests.support.awards import AWARD, NOW, awards
from tests.support.house import completed

TOPICS: Final = {"transactions": "t.v1", "points": "p.v1", "tiers": "r.v1"}
SOURCES: Final = built_in(**{f"{name}_topic": topic for name, topic in TOPICS.items()})
FAR: Final = datetime(2099, 12, 31, tzinfo=UTC)


def event_of(source: str, body: bytes) -> Event | None:
    return EventReader(SOURCES, TOPICS[source], events_topic=EVENTS_TOPIC).read(body, FAR)


def point_event(award: Award) -> bytes:
    account = Account.opened((award.member_id, award.program), award.country)
    return encode_event(apply(account._replace(balance=1000, last_seq=41), award, NOW)[1])


NOT_FOR_THEM: Final = {
    "no JSON": b"{",
    "no object": b"[]",
    "no amount that points follow from": json.dumps(completed(1, amount="much")).encode(),
    "no member": json.dumps({**completed(1), "member_id": None}).encode(),
    "an amount twice": json.dumps(completed(1))[:-1].encode() + b', "amount": "1.00"}',
}


@pytest.mark.parametrize("name", NOT_FOR_THEM)
def test_what_the_calculator_sets_aside_is_not_set_aside_once_more(name: str) -> None:
    with pytest.raises(SetAside):
        read_transaction(NOT_FOR_THEM[name])
    assert event_of("transactions", NOT_FOR_THEM[name]) is None


def test_a_transaction_that_is_to_come_is_an_event_to_come() -> None:
    """Each has a replay of its own."""
    body = json.dumps(completed(1)).encode()
    with pytest.raises(SetAside) as fault:
        EventReader(SOURCES, TOPICS["transactions"], events_topic=EVENTS_TOPIC).read(
            body, datetime(2020, 1, 1, tzinfo=UTC)
        )
    assert fault.value.reason is Reasons.IN_THE_FUTURE


def test_there_is_a_source_for_each_topic() -> None:
    assert {source.name: source.topic for source in SOURCES} == {**TOPICS, "places": None}
    assert {source.version for source in SOURCES} == {0}
    assert {*TOPICS, "places"} == BUILT_IN


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_their_names_are_taken(source: Source) -> None:
    with pytest.raises(DocumentFaults, match="there from the start"):
        parse_source(to_document(source))


def test_a_transaction() -> None:
    body = json.dumps(completed(7, vertical="food"))
    read_transaction(body.encode())  # as the calculator does
    assert event_of("transactions", body.encode()) == Event(
        "transactions",
        "transaction.completed",
        "rides:T-7",
        "m0",
        "SG",
        datetime(2026, 5, 1, 4, tzinfo=UTC),
        {
            "source": "rides",
            "transaction_id": "T-7",
            "amount": Decimal("10.00"),
            "currency": "SGD",
            "vertical": "food",
            "payment_type": "wallet",
        },
    )


def test_refunds_of_a_transaction_are_events_of_their_own() -> None:
    refunds: list[dict[str, Any]] = [
        completed(7, type="transaction.refunded", refund_id=f"R-{number}") for number in (1, 2)
    ]
    events = [event_of("transactions", json.dumps(refund).encode()) for refund in refunds]
    assert [event.key for event in events if event] == [
        "transactions:transaction.refunded:rides:R-1",
        "transactions:transaction.refunded:rides:R-2",
    ]


def test_other_events_of_the_transactions_topic_are_for_sources_of_their_own() -> None:
    body = json.dumps(completed(7, type="booking.cancelled_by_driver")).encode()
    assert event_of("transactions", body) is None
    bookings = parse_source(
        {
            "source": "bookings",
            "topic": TOPICS["transactions"],
            "fields": {"type": "/type", "id": ["/source", "/transaction_id"], "time": "/occurred_at"},
            "types": {"booking.cancelled_by_driver": {}},
        }
    )
    reader = EventReader([*SOURCES, bookings], TOPICS["transactions"], events_topic=EVENTS_TOPIC)
    event = reader.read(body, FAR)
    assert event is not None
    assert event.key == "bookings:booking.cancelled_by_driver:rides:T-7"


def test_a_posting() -> None:
    event = event_of("points", point_event(AWARD))
    assert event == Event(
        "points",
        "abacus.points.earned.v1",
        "bob:GRP:42",
        "bob",
        "SG",
        datetime(2026, 1, 10, 4, 30, tzinfo=UTC),
        {
            "program": "GRP",
            "points": 180,
            "balance": 1180,
            "seq": 42,
            "kind": "earn",
            "key": "txn:rides:T-1001",
            "source": "stream",
        },
    )


@given(awards)
def test_every_posting_is_an_event(award: Award) -> None:
    event = event_of("points", point_event(award))
    assert event is not None
    assert (event.member_id, event.country, event.variables["points"]) == (
        award.member_id,
        award.country,
        award.points,
    )
    assert event.occurred_at == award.occurred_at


def test_all_types_of_postings_are_taken_and_seals_are_not() -> None:
    (points,) = (source for source in SOURCES if source.name == "points")
    assert set(points.types) == set(TYPES.values())
    assert event_of("points", b'{"type": "abacus.ledger.sealed.v1", "id": "seal:1"}') is None


@pytest.mark.parametrize("country", ["SG", None])
def test_a_change_of_tier(country: str | None) -> None:
    change = Change(
        *("bob", "GRP", 7, country, "member", "silver", Reason.OVERRIDE, "ops", "a friend"),
        *(None, None, None, None, NOW),
    )
    assert event_of("tiers", encode_tier_changed(change)) == Event(
        "tiers",
        TYPE,
        "bob:GRP:tier:7",
        "bob",
        country,
        NOW,
        {"program": "GRP", "from_tier": "member", "to_tier": "silver", "reason": "override"},
    )
