"""Webhooks before anything is sent: messages, and for how long they are tried."""

import json
import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import jsonschema
import orjson
import pytest

from abacus.core.errors import Unreadable
from abacus.core.ids import award_id
from abacus.core.sources import source_of_key
from abacus.intake.partners.webhooks.decide.body import AwardPosted, AwardRejected
from abacus.intake.partners.webhooks.decide.delivery import (
    BACKOFF,
    RETRIED_FOR,
    Delivery,
    SignedAddress,
    retry_until,
)
from abacus.intake.partners.webhooks.decide.message import MessageType, posted, rejected
from abacus.ledger.decide.chain import CURRENT
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.limits import Rejection, RejectionReason
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.platform.delivery.decide.schedule import Schedule
from abacus.platform.delivery.types import Answer, DeliveryOutcome, Lease, Said
from tests.support.paths import DOCS

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def transfer(key: str = "api:acme:w:1") -> Transfer:
    return Transfer(
        member_id="bob",
        program="GRP",
        seq=3,
        kind=TransferKind.EARN,
        points=100,
        balance_after=280,
        key=key,
        country="SG",
        occurred_at=NOW - timedelta(minutes=1),
        posted_at=NOW,
        expires_on=date(2026, 12, 31),
        explanation=b'{"granted_by":"acme","points":100}',
        reverses=None,
        actor=None,
        source=source_of_key(key),
        lifetime=False,
        vests_on=None,
        vests_at=None,
        format=CURRENT,
        hash=b"",
    )


def test_a_posting_as_its_partner_is_told() -> None:
    message = posted(encode_event(transfer()))
    assert message is not None
    assert (message.partner_id, message.type, message.happened_at) == ("acme", MessageType.POSTED, NOW)
    assert orjson.loads(message.body) == {
        "type": "award.posted",
        "timestamp": "2026-06-01T12:00:00+00:00",
        "data": {
            "award_id": str(award_id("api:acme:w:1")),
            "idempotency_key": "w:1",
            "member_id": "bob",
            "program": "GRP",
            "country": "SG",
            "points": 100,
            "status": "posted",
            "balance": 280,
            "posted_at": "2026-06-01T12:00:00+00:00",
            "occurred_at": "2026-06-01T11:59:00+00:00",
            "expires_on": "2026-12-31",
            "explanation": {"granted_by": "acme", "points": 100},
        },
    }


def test_a_rejection_as_its_partner_is_told() -> None:
    reason = RejectionReason.BUDGET_EXHAUSTED
    message = rejected(Rejection("api:acme:w-2", "bob", "GRP", 100, "ab", reason, "none left", NOW))
    assert message is not None
    assert (message.partner_id, message.type, message.happened_at) == ("acme", MessageType.REJECTED, NOW)
    assert orjson.loads(message.body) == {
        "type": "award.rejected",
        "timestamp": "2026-06-01T12:00:00+00:00",
        "data": {
            "award_id": str(award_id("api:acme:w-2")),
            "idempotency_key": "w-2",
            "member_id": "bob",
            "program": "GRP",
            "points": 100,
            "status": "rejected",
            "rejected_at": "2026-06-01T12:00:00+00:00",
            "reason": "budget-exhausted",
            "detail": "none left",
        },
    }


def test_messages_are_as_their_schema_says() -> None:
    """A field that is sent and not in the schema fails the test, and so does one that is in the schema and not sent."""
    schema = jsonschema.Draft202012Validator(json.loads((DOCS / "schemas/webhook.v1.json").read_text(encoding="utf-8")))
    rejection = Rejection("api:acme:w-2", "bob", "GRP", 1, "ab", RejectionReason.AWARD_CAP, "too much", NOW)
    for message, model in (
        (posted(encode_event(transfer())), AwardPosted),
        (posted(encode_event(transfer()._replace(expires_on=None))), AwardPosted),
        (rejected(rejection), AwardRejected),
    ):
        assert message is not None
        body = json.loads(message.body)
        schema.validate(body)
        assert set(model.model_validate(body).data.model_dump()) == set(body["data"])


def test_an_event_becomes_one_message_however_often_it_is_read() -> None:
    keys = ["api:acme:1", "api:acme:2", "api:bits:1"]
    ids = [[_posted_id(key) for key in keys] for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 3
    assert all(id_.startswith("msg_") and "." not in id_ for id_ in ids[0])


def _posted_id(key: str) -> str:
    message = posted(encode_event(transfer(key)))
    assert message is not None
    return message.message_id


def changed(**changes: Any) -> bytes:
    return orjson.dumps(orjson.loads(encode_event(transfer())) | changes)


@pytest.mark.parametrize(
    "event",
    [
        encode_event(transfer("txn:rides:T-1")),
        changed(type="abacus.points.spent.v1"),
        encode_event(transfer("api:Not An Id:1")),
        encode_event(transfer("api:\x00:1")),
        encode_event(transfer("api::1")),
    ],
)
def test_events_that_concern_no_partner(event: bytes) -> None:
    assert posted(event) is None


@pytest.mark.parametrize(
    "event",
    [
        b"",
        b"not json",
        b"[]",
        b"7",
        b"{}",
        b"\xff",
        b"[" * 60_000,
        changed(data=None),
        changed(data={"key": "api:acme:1"}),
        changed(time="yesterday"),
        changed(time="2026-06-01T12:00:00"),
        changed(data={"key": 7}),
    ],
)
def test_events_that_cannot_be_read(event: bytes) -> None:
    with pytest.raises(Unreadable):
        posted(event)


def test_tries_go_on_for_three_days_ever_more_seldom() -> None:
    schedule = Schedule(BACKOFF, retry_until, random.Random(7))
    now, until, tries = NOW, NOW + RETRIED_FOR, 0
    lease, webhook = Lease(("msg_1",), "bob", NOW), SignedAddress("https://hooks.example", "s", None)
    waits = []
    while True:
        tries += 1
        delivery = Delivery("msg_1", "acme", "bob", "award.posted", "{}", until, tries, lease, webhook)
        decision = schedule.verdict(delivery, Answer(Said.FAILED, "answered 503", 503), now)
        if decision.retry_at is None:
            break
        waits.append(decision.retry_at - now)
        now = decision.retry_at
    assert decision.outcome is DeliveryOutcome.GIVEN_UP
    assert now == until  # the last try is made when the time is up
    assert waits[0] <= timedelta(seconds=5)
    assert max(waits) <= timedelta(hours=6)
    assert 20 <= tries <= 80
