"""Webhooks before anything is sent: addresses, signatures, messages, and what follows from an answer."""

import base64
import json
import random
import re
import time
from datetime import UTC, date, datetime, timedelta
from typing import Any

import jsonschema
import orjson
import pytest

from abacus.core.backoff import Backoff
from abacus.core.errors import Refused, Unreadable
from abacus.core.ids import award_id
from abacus.intake.partners.webhooks.decide.addresses import checked_url, is_public
from abacus.intake.partners.webhooks.decide.body import AwardPosted, AwardRejected
from abacus.intake.partners.webhooks.decide.message import MessageType, posted, rejected
from abacus.intake.partners.webhooks.decide.schedule import BACKOFF, RETRIED_FOR, Answer, Outcome, asked_until, verdict
from abacus.intake.partners.webhooks.decide.signature import new_secret, sign, signed_headers
from abacus.ledger.decide.chain import CURRENT
from abacus.ledger.types.award import Kind
from abacus.ledger.types.limits import Rejection, RejectionReason
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from tests.support.paths import DOCS

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

ADDRESSES = {
    "8.8.8.8": True,
    "1.1.1.1": True,
    "2606:4700::1111": True,
    "2a00:1450:4001:80b::200e": True,
    "64:ff9b::808:808": True,  # 8.8.8.8 by NAT64
    "0.0.0.0": False,  # noqa: S104  # nobody listens here
    "0.1.2.3": False,
    "10.0.0.1": False,
    "100.64.0.1": False,  # carriers' own
    "100.127.255.255": False,
    "127.0.0.1": False,
    "127.8.8.8": False,
    "169.254.169.254": False,  # where clouds keep credentials
    "172.16.0.1": False,
    "172.31.255.255": False,
    "172.32.0.1": True,
    "192.0.0.9": False,
    "192.0.2.1": False,
    "192.88.99.1": False,
    "192.168.1.1": False,
    "198.18.0.1": False,
    "198.51.100.1": False,
    "203.0.113.1": False,
    "224.0.0.1": False,
    "239.255.255.255": False,
    "240.0.0.1": False,
    "255.255.255.255": False,
    "::": False,
    "::1": False,
    "::8.8.8.8": False,
    "::ffff:127.0.0.1": False,
    "::ffff:8.8.8.8": False,  # no resolver answers so for a name
    "64:ff9b::7f00:1": False,
    "64:ff9b::a00:1": False,
    "64:ff9b:1::808:808": False,
    "100::1": False,
    "2001::1": False,
    "2001:db8::1": False,
    "2002:7f00:1::1": False,
    "2002:808:808::1": False,
    "3fff::1": False,
    "5f00::1": False,
    "fc00::1": False,
    "fd12:3456::1": False,
    "fe80::1": False,
    "fe80::1%eth0": False,
    "fec0::1": False,
    "ff02::1": False,
    "ff0e::1": False,
    "": False,
    "example.com": False,
    "2130706433": False,
    "127.1": False,
}


@pytest.mark.parametrize(("address", "outcome"), ADDRESSES.items())
def test_which_addresses_are_public(address: str, outcome: object) -> None:
    assert is_public(address) is outcome


HTTPS = "an address of the form https://host/path is needed"
URLS = [
    ("https://hooks.example", False, None),
    ("https://hooks.example:8443/abacus?x=1", False, None),
    ("https://8.8.8.8/", False, None),
    ("http://hooks.example/", False, HTTPS),
    ("http://hooks.example/", True, None),
    ("http://127.0.0.1:8000/", True, None),
    ("https://127.0.0.1/", False, "127.0.0.1 is not an address of the public internet"),
    ("https://[::1]:80/", False, "::1 is not an address of the public internet"),
    ("https://[::1]:80/", True, None),
    ("ftp://hooks.example/", True, HTTPS),
    ("https:///path", False, HTTPS),
    ("hooks.example", False, HTTPS),
    ("https://hooks.example:0/", False, HTTPS),
    ("https://hooks.example:99999/", False, "Port out of range"),
    ("https://[::1/", False, "Invalid IPv6"),
    ("https://user:pass@hooks.example/", False, "leave out user"),
    ("https://hooks.example/#part", False, "leave out user"),
    ("https://hooks.example/a b", False, "no spaces"),
    ("https://hooks.example/\r\nX: y", False, "no spaces"),
    ("https://bücher.example/", False, "ASCII"),
    ("https://hooks.example/" + "x" * 2000, False, "up to 2000"),
]


@pytest.mark.parametrize(("url", "to_private", "fault"), URLS)
def test_which_urls_are_taken(url: str, to_private: bool, fault: str | None) -> None:  # noqa: FBT001  # a table's column
    if fault is None:
        assert checked_url(url, to_private=to_private) == url
    else:
        with pytest.raises(Refused, match=fault):
            checked_url(url, to_private=to_private)


# Published by the standard's reference libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_published_signature() -> None:
    assert sign(SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}') == SIGNATURE


def test_the_receiver_of_the_documentation_verifies_it() -> None:
    text = (DOCS / "partners.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def verified" in block]
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102  # what the documentation shows is to work
    body, now = b'{"type":"award.posted"}', int(time.time())
    headers = signed_headers([new_secret(), SECRET], "msg_1", now, body)
    assert names["verified"](SECRET, headers, body)
    assert not names["verified"](SECRET, headers, body + b" ")
    assert not names["verified"](new_secret(), headers, body)
    assert not names["verified"](SECRET, signed_headers([SECRET], "msg_1", now - 400, body), body)


def test_two_secrets_sign_side_by_side() -> None:
    other = new_secret()
    headers = signed_headers([other, SECRET], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"
    assert headers["webhook-timestamp"] == "1614265330"
    assert headers["webhook-signature"].split(" ")[1] == SIGNATURE


def test_a_secret_is_random_and_of_the_length_the_standard_asks_for() -> None:
    made = {new_secret() for _ in range(50)}
    assert len(made) == 50
    assert all(24 <= len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) <= 64 for secret in made)


def transfer(key: str = "api:acme:w:1") -> Transfer:
    return Transfer(
        member_id="bob",
        program="GRP",
        seq=3,
        kind=Kind.EARN,
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
        source="partner:acme",
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
    """To the field: what is sent and not in the schema, or the other way round, fails."""
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


DELIVERED, RETRIED, GIVEN_UP, GONE = Outcome.DELIVERED, Outcome.RETRIED, Outcome.GIVEN_UP, Outcome.GONE
BEFORE, AFTER = NOW + timedelta(seconds=1), NOW - timedelta(seconds=1)
ANSWERS = [
    (200, BEFORE, DELIVERED),
    (204, AFTER, DELIVERED),
    (299, BEFORE, DELIVERED),
    (199, BEFORE, RETRIED),
    (302, BEFORE, RETRIED),
    (404, BEFORE, RETRIED),
    (410, BEFORE, GONE),
    (410, AFTER, GONE),
    (429, BEFORE, RETRIED),
    (500, BEFORE, RETRIED),
    (None, BEFORE, RETRIED),
    (None, NOW, GIVEN_UP),
    (500, AFTER, GIVEN_UP),
]


@pytest.mark.parametrize(("status", "retry_until", "outcome"), ANSWERS)
def test_what_follows_from_an_answer(status: int | None, retry_until: datetime, outcome: Outcome) -> None:
    found = verdict(Answer(status, ""), NOW, attempts=1, retry_until=retry_until, backoff=BACKOFF, rng=random.Random(1))
    assert found.outcome is outcome
    assert (found.due_at is not None) == (outcome is RETRIED)


def test_tries_go_on_for_three_days_ever_more_seldom() -> None:
    rng = random.Random(7)
    now, until, tries = NOW, NOW + RETRIED_FOR, 0
    waits = []
    while True:
        tries += 1
        found = verdict(Answer(503, ""), now, attempts=tries, retry_until=until, backoff=BACKOFF, rng=rng)
        if found.due_at is None:
            break
        waits.append(found.due_at - now)
        now = found.due_at
    assert found.outcome is GIVEN_UP
    assert now == until  # the last try is made when the time is up
    assert waits[0] <= timedelta(seconds=5)
    assert max(waits) <= timedelta(hours=6)
    assert 20 <= tries <= 80


def test_waits_are_jittered() -> None:
    backoff = Backoff(first_s=5, longest_s=100)
    dues = {
        verdict(
            Answer(None, ""), NOW, attempts=3, retry_until=NOW + RETRIED_FOR, backoff=backoff, rng=random.Random(seed)
        ).due_at
        for seed in range(50)
    }
    assert len(dues) == 50


@pytest.mark.parametrize(
    ("retry_after", "waits"),
    [
        ("120", timedelta(minutes=2)),
        (" 0 ", timedelta()),
        ("Mon, 01 Jun 2026 13:00:00 GMT", timedelta(hours=1)),
        ("Mon, 01 Jun 2026 11:00:00 GMT", -timedelta(hours=1)),
        ("Mon, 01 Jun 2026 13:00:00", timedelta()),
        ("-5", timedelta()),
        ("99999999999", timedelta()),
        ("Mon, 01 Jan 99999999999999 00:00:00 GMT", timedelta()),
        ("Mon, 01 Jun 2026 13:00:00 +99999999999999999", timedelta()),
        ("Mon, 01 Jun 2026 99999999999999:00:00 GMT", timedelta()),
        ("soon", timedelta()),
        ("", timedelta()),
        (None, timedelta()),
    ],
)
def test_how_long_a_receiver_asks_to_be_left_alone(retry_after: str | None, waits: timedelta) -> None:
    assert asked_until(retry_after, NOW) - NOW == waits


def test_a_wait_that_is_asked_for_counts_when_it_is_longer_and_ends_with_the_time() -> None:
    def due_after(retry_after: str) -> timedelta:
        found = verdict(
            Answer(503, "busy", retry_after),
            NOW,
            attempts=1,
            retry_until=NOW + timedelta(hours=1),
            backoff=Backoff(first_s=60, longest_s=60),
            rng=random.Random(1),
        )
        assert found.due_at is not None
        return found.due_at - NOW

    assert due_after("600") == timedelta(minutes=10)
    assert due_after("7200") == timedelta(hours=1)
    assert timedelta() <= due_after("0") <= timedelta(minutes=1)
