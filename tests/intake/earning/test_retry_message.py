"""A message that waits on the retry queue comes back as it was, byte for byte."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside, Unavailable
from abacus.intake.earning.decide.source_message import SourceMessage, decode_retries, encode_retry
from abacus.platform.sqs.packer import pack

NOW = datetime(2026, 1, 10, 12, 30, tzinfo=UTC)
REFUSED_BY_SQS = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

words = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=30)
messages = st.builds(
    SourceMessage,
    body=st.binary(max_size=200) | st.text(st.characters(exclude_categories=["Cs"]), max_size=100).map(str.encode),
    origin=words,
    attempt=st.integers(0, 10**6),
    first_failed_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    cause=words,
)


def the_way_there_and_back(sent: list[SourceMessage]) -> list[SourceMessage]:
    return [message for body in pack("retries", map(encode_retry, sent)) for message in decode_retries(body)]


@given(st.lists(messages, max_size=8))
@example([SourceMessage(b"", "kafka:t/0/1")])
@example([SourceMessage(b"\xff\xfe\x00", "kafka:t/0/1")])
@example([SourceMessage("\ufffe".encode(), "kafka:t/0/1")])
@example([SourceMessage(b"\xed\xa0\x80", "kafka:t/0/1")])
@settings(deadline=None)
def test_there_and_back(sent: list[SourceMessage]) -> None:
    assert the_way_there_and_back(sent) == sent


@given(messages)
@example(SourceMessage("\ufffe".encode(), "kafka:t/0/1"))
@example(SourceMessage("\uffff".encode(), "kafka:t/0/1"))
@example(SourceMessage(b"\x00\x1f", "kafka:t/0/1"))
@settings(deadline=None)
def test_the_queue_takes_every_message(message: SourceMessage) -> None:
    (body,) = pack("retries", [encode_retry(message)])
    assert REFUSED_BY_SQS.search(body) is None


def test_text_stays_readable() -> None:
    envelope = json.loads(next(pack("retries", [encode_retry(SourceMessage('{"a":"ü"}'.encode(), "kafka:t/0/1"))])))
    assert envelope == {
        "v": 1,
        "retries": [
            {
                "transaction": '{"a":"ü"}',
                "origin": "kafka:t/0/1",
                "attempt": 0,
                "first_failed_at": None,
                "reason": "",
            }
        ],
    }


def test_failures_are_counted_and_the_first_is_remembered() -> None:
    once = SourceMessage(b"x", "kafka:t/0/1").failed(Unavailable("database", "refused"), NOW)
    twice = once.failed(Unavailable("rate cards", "not read yet"), NOW + timedelta(hours=1))
    assert once == SourceMessage(b"x", "kafka:t/0/1", 1, NOW, "database: refused")
    assert twice == SourceMessage(b"x", "kafka:t/0/1", 2, NOW, "rate cards: not read yet")


RETRY: dict[str, Any] = {
    "transaction": "{}",
    "origin": "kafka:t/0/1",
    "attempt": 3,
    "first_failed_at": "2026-01-10T12:30:00Z",
    "reason": "database: refused",
}
BARE = {name: value for name, value in RETRY.items() if name != "transaction"}


def envelope(**changed: object) -> bytes:
    return json.dumps({"v": 1, "retries": [RETRY | changed]}).encode()


UNREADABLE: list[tuple[str, bytes | str, str]] = [
    ("nothing", b"", "EOF while parsing a value"),
    ("not JSON", b"\xff", "expected value"),
    ("a lone surrogate", '{"v":1,"retries":["\ud800"]}', "unicode"),
    ("deeply nested", b"[" * 10_000, "recursion limit exceeded"),
    ("a list", b"[]", "Input should be an object"),
    ("an award envelope", b'{"v":1,"awards":[]}', "retries: Field required"),
    ("no version", b'{"retries":[]}', "v: Field required"),
    ("the next version", b'{"v":2,"retries":[]}', "v: Input should be 1, not 2"),
    ("no origin", envelope(origin=None), "retries.0.origin: Input should be a valid string"),
    ("fewer than no attempts", envelope(attempt=-1), "retries.0.attempt: Input should be greater than or equal to 0"),
    ("half an attempt", envelope(attempt=1.5), "retries.0.attempt: Input should be a valid integer"),
    ("more attempts than time allows", envelope(attempt=10**30), "retries.0.attempt"),
    ("a time without an offset", envelope(first_failed_at="2026-01-10T12:30:00"), "first_failed_at: Input should have"),
    ("a time far too late", envelope(first_failed_at=10**20), "retries.0.first_failed_at: "),
    ("a transaction that is none", envelope(transaction={}), "retries.0.transaction: Input should be a valid string"),
    ("no transaction", json.dumps({"v": 1, "retries": [BARE]}), "transaction"),
    ("base64 that is cut off", json.dumps({"v": 1, "retries": [BARE | {"transaction_base64": "abc"}]}), "base64"),
    ("base64 with letters of its own", json.dumps({"v": 1, "retries": [BARE | {"transaction_base64": "é"}]}), "base64"),
    ("base64 with junk in it", json.dumps({"v": 1, "retries": [BARE | {"transaction_base64": "YQ$=="}]}), "base64"),
]  # fmt: skip


REASONS = {
    "EOF while parsing a value": Reason.UNDECODABLE,
    "expected value": Reason.UNDECODABLE,
    "recursion limit exceeded": Reason.UNDECODABLE,
    "v: Field required": Reason.UNSUPPORTED,
    "v: Input should be 1, not 2": Reason.UNSUPPORTED,
}


@pytest.mark.parametrize(("body", "detail"), [pytest.param(*row, id=name) for name, *row in UNREADABLE])
def test_unreadable_envelopes(body: bytes | str, detail: str) -> None:
    with pytest.raises(SetAside) as aside:
        decode_retries(body)
    assert aside.value.reason is REASONS.get(detail, Reason.INVALID)
    assert detail in aside.value.detail


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
changed_envelopes = st.dictionaries(st.sampled_from([*RETRY, "transaction_base64"]), json_values, max_size=3).map(
    lambda changed: envelope(**changed)
)


@pytest.mark.long
@given(st.binary(max_size=40) | changed_envelopes)
@settings(max_examples=200, deadline=None)
def test_any_body_is_read_or_set_aside_and_what_was_read_can_be_sent_again(body: bytes) -> None:
    try:
        read = decode_retries(body)
    except SetAside:
        return
    assert the_way_there_and_back(list(read)) == read
