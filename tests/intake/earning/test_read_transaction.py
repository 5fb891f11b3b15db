"""Reading messages: any bytes are either a transaction, or set aside with their first fault."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.intake.earning.decide.transaction import (
    MAX_BYTES,
    Completed,
    Event,
    Refunded,
    Transaction,
    read_transaction,
)
from tests.support.cards import CANCELLED, LUNCH, REFUND, lunch, message, read


def raw(**values: str) -> bytes:
    """The lunch with these JSON texts in the place of values."""
    facts = {name: json.dumps(value) for name, value in LUNCH.items()} | values
    return ("{" + ",".join(f'"{name}":{value}' for name, value in facts.items()) + "}").encode()


def without(name: str) -> bytes:
    return message({key: value for key, value in LUNCH.items() if key != name})


UNDECODABLE = [
    ("nothing, a tombstone", b"", "EOF while parsing a value"),
    ("cut off", message(LUNCH)[:-7], "EOF while parsing"),
    ("not UTF-8", raw().replace(b"bob", b"b\xffb"), "invalid unicode code point"),
    ("a surrogate as UTF-8", raw().replace(b"bob", b"\xed\xa0\x80"), "invalid unicode code point"),
    ("a lone surrogate", raw(member_id=r'"\ud800"'), "hex escape"),
    ("a byte order mark", b"\xef\xbb\xbf" + message(LUNCH), "expected value"),
    ("UTF-16", json.dumps(LUNCH).encode("utf-16"), "expected value"),
    ("two documents", message(LUNCH) * 2, "trailing characters"),
    ("a control character in a string", raw(member_id='"b\x01b"'), "control character"),
    ("single quotes", message(LUNCH).replace(b'"', b"'"), "key must be a string"),
    ("deeply nested", raw(note="[" * 30_000 + "]" * 30_000), "recursion limit exceeded"),
    ("a number that is too long", raw(amount="1" * 5000), "number out of range"),
    ("a number that is too long, in a field that nobody asked for", raw(note="1" * 5000), "number out of range"),
    ("too large", raw(note=json.dumps("x" * MAX_BYTES)), f"bytes; a transaction has at most {MAX_BYTES}"),
    ("too large, and no JSON", b"x" * (MAX_BYTES + 1), f"{MAX_BYTES + 1} bytes; a transaction has at most {MAX_BYTES}"),
]  # fmt: skip

INVALID = [
    ("null", b"null", "Input should be an object, not None"),
    ("a list", b"[]", "Input should be an object, not []"),
    ("a string", b'"transaction.completed"', "Input should be an object"),
    ("an empty object", b"{}", "type: Field required"),
    *[(f"no {name}", without(name), f"{name}: Field required") for name in LUNCH if name != "type"],
    ("no type", without("type"), "type: Field required"),
    ("a type that is null", raw(type="null"), "type: Input should be a valid string, not None"),
    ("a type that is a list", raw(type='["transaction.completed"]'), "type: Input should be a valid string"),
    ("a type with a newline", raw(type=r'"transaction.completed\n"'), "type: a text of another form is needed"),
    ("a type with a colon", raw(type='"booking:cancelled"'), "type: a text of another form is needed"),
    ("a source with a colon", raw(source='"rides:x"'), "source: a text of another form is needed"),
    ("an empty source", raw(source='""'), "source: a text of another form is needed"),
    ("a source of 65 characters", raw(source=json.dumps("s" * 65)), "source: a text of another form is needed"),
    ("a member that is a number", raw(member_id="17"), "member_id: Input should be a valid string, not 17"),
    ("a member that is true", raw(member_id="true"), "member_id: Input should be a valid string, not True"),
    ("no name at all", raw(member_id='""'), "member_id: a text of another form is needed"),
    ("a space in front", raw(member_id='" bob"'), "member_id: a text of another form is needed"),
    ("a newline behind", raw(member_id=r'"bob\n"'), "member_id: a text of another form is needed"),
    ("a null character", raw(member_id=r'"b\u0000b"'), r"not 'b\x00b'"),
    ("a delete character", raw(member_id=r'"b\u007fb"'), r"not 'b\x7fb'"),
    ("a C1 control character", raw(member_id=r'"b\u0085b"'), r"not 'b\x85b'"),
    ("a character that SQS refuses", raw(transaction_id=r'"b\uffffb"'), r"not 'b\uffffb'"),
    ("129 characters", raw(member_id=json.dumps("m" * 129)), "member_id: a text of another form is needed"),
    ("an amount as a number", raw(amount="15"), "amount: Input should be a valid string, not 15"),
    ("an amount as a float", raw(amount="15.00"), "amount: Input should be a valid string, not 15.0"),
    ("an amount of 4,000 digits", raw(amount="1" * 4000), "amount: Input should be a valid string, not 1111"),
    ("not a number", raw(amount="NaN"), "amount: Input should be a valid string, not nan"),
    ("infinite", raw(amount="-Infinity"), "amount: Input should be a valid string, not -inf"),
    ("a redemption that is no UUID", raw(redemption_id='"R-7"'), "redemption_id: a text of another form is needed"),
    ("a redemption in braces", raw(redemption_id=json.dumps("{" + "0" * 36 + "}")), "redemption_id: a text of another"),
    ("a redemption that is a number", raw(redemption_id="7"), "redemption_id: Input should be a valid string, not 7"),
    ("not a number, in words", raw(amount='"NaN"'), "amount: a text of another form is needed"),
    ("an exponent", raw(amount='"1e3"'), "amount: a text of another form is needed"),
    ("negative", raw(amount='"-5.00"'), "not '-5.00'"),
    ("a plus", raw(amount='"+5.00"'), "not '+5.00'"),
    ("no digit before the point", raw(amount='".5"'), "not '.5'"),
    ("no digit after the point", raw(amount='"5."'), "not '5.'"),
    ("a comma", raw(amount='"1,000"'), "not '1,000'"),
    ("a newline after the amount", raw(amount=r'"15.00\n"'), r"not '15.00\n'"),
    ("digits that are not ASCII", raw(amount=r'"\u0661\u0665"'), "amount: a text of another form is needed"),
    ("sixteen digits", raw(amount='"1234567890123456"'), "amount: a text of another form is needed"),
    ("nine decimals", raw(amount='"1.123456789"'), "amount: a text of another form is needed"),
    ("a country of three letters", raw(country='"SGP"'), "country: a text of another form is needed"),
    ("a country in small letters", raw(country='"sg"'), "country: a text of another form is needed"),
    ("a currency sign", raw(currency='"S$"'), "currency: a text of another form is needed"),
    ("a time as a number", raw(occurred_at="1768000000"), "occurred_at: "),
    ("a time as a float", raw(occurred_at="1768000000.5"), "occurred_at: "),
    ("a time as a number in a string", raw(occurred_at='"1768000000"'), "occurred_at: "),
    ("a time as a float in a string", raw(occurred_at='"1768000000.5"'), "occurred_at: "),
    ("a time as milliseconds in a string", raw(occurred_at='"1768000000000"'), "occurred_at: "),
    ("a time without an offset", raw(occurred_at='"2026-01-10T12:30:00"'), "occurred_at: Input should have timezone"),
    ("a date", raw(occurred_at='"2026-01-10"'), "occurred_at: "),
    ("a day that is not", raw(occurred_at='"2026-02-29T12:30:00Z"'), "occurred_at: Input should be a valid datetime"),
    ("a leap second", raw(occurred_at='"2026-06-30T23:59:60Z"'), "occurred_at: Input should be a valid datetime"),
    ("an offset of a day", raw(occurred_at='"2026-01-10T12:30:00+24:00"'), "occurred_at: "),
    ("before the year 2000", raw(occurred_at='"1999-12-31T23:59:59.999999Z"'), "greater than or equal to 2000-01-01"),
    ("before it by the offset", raw(occurred_at='"2000-01-01T00:00:00+00:01"'), "greater than or equal to 2000-01-01"),
    ("the year 2100", raw(occurred_at='"2100-01-01T00:00:00Z"'), "less than 2100-01-01"),
    ("the first year there is", raw(occurred_at='"0001-01-01T00:00:00+14:00"'), "greater than or equal to 2000-01-01"),
    ("the last year there is", raw(occurred_at='"9999-12-31T23:59:59-14:00"'), "less than 2100-01-01"),
    ("an amount that stands twice", raw(amount='"15.00","amount":"25.00"'), "'amount' stands twice in one object"),
    ("the same amount twice", raw(amount='"15.00", "amount" : "15.00"'), "'amount' stands twice in one object"),
    ("an amount twice, in other letters", raw(amount=r'"15.00","\u0061mount":"25.00"'), "'amount' stands twice"),
    ("twice in a field that nobody asked for", raw(note='[{"a":{},"a":{}}]'), "'a' stands twice in one object"),
    ("twice, and a comma in other letters", raw(note=r'"a\u002cb\u002c"', city='"x","city":"y"'), "'city' stands"),
    ("twice, and not a number", raw(note="NaN", city='"x","city":"y"'), "'city' stands twice in one object"),
    ("a refund's amount twice", message(REFUND)[:-1] + b',"amount":"1.00"}', "'amount' stands twice in one object"),
    ("an event's member twice", message(CANCELLED)[:-1] + b',"member_id":"eve"}', "'member_id' stands twice"),
    ("a refund without its id", message(LUNCH | {"type": "transaction.refunded"}), "refund_id: Field required"),
    ("an event without its member", message({"type": "booking.created"}), "(and 4 more)"),
]  # fmt: skip

REJECTED = [(name, body, Reason.UNDECODABLE, detail) for name, body, detail in UNDECODABLE] + [
    (name, body, Reason.INVALID, detail) for name, body, detail in INVALID
]


@pytest.mark.parametrize(("body", "reason", "detail"), [pytest.param(*row, id=name) for name, *row in REJECTED])
def test_set_aside(body: bytes, reason: Reason, detail: str) -> None:
    with pytest.raises(SetAside) as aside:
        read_transaction(body)
    assert detail in aside.value.detail
    assert aside.value.reason is reason


PADDING = "x" * (MAX_BYTES - len(raw(note='""')))

ACCEPTED: list[tuple[str, bytes, type, dict[str, Any]]] = [
    ("a lunch", message(LUNCH), Completed, {"amount": "15.00", "vertical": "food", "currency": "SGD"}),
    ("a refund", message(REFUND), Refunded, {"refund_id": "R-7", "amount": "5.00", "transaction_id": "T-1001"}),
    ("an event", message(CANCELLED), Event, {"type": "booking.cancelled_by_driver"}),
    ("an event with a lunch's fields", message(LUNCH | {"type": "lunch.planned"}), Event, {"type": "lunch.planned"}),
    ("unknown fields", raw(note='{"a":[1,2,NaN]}', tip="1.5"), Completed, {"amount": "15.00"}),
    ("a member of 128 characters", raw(member_id=json.dumps("é" * 128)), Completed, {"member_id": "é" * 128}),
    ("a member with a space inside", raw(member_id='"bob b"'), Completed, {"member_id": "bob b"}),
    ("an emoji", raw(member_id=r'"\ud83d\ude00"'), Completed, {"member_id": "😀"}),
    ("colons in an id", raw(transaction_id='"2026:01:10"'), Completed, {"transaction_id": "2026:01:10"}),
    ("the widest amount", raw(amount='"999999999999999.99999999"'), Completed, {"amount": "999999999999999.99999999"}),
    ("nothing", raw(amount='"0"'), Completed, {"amount": "0"}),
    ("white space", json.dumps(LUNCH, indent="\t").encode(), Completed, {"member_id": "bob"}),
    ("as large as may be", raw(note=json.dumps(PADDING)), Completed, {"source": "rides"}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind", "fields"), [pytest.param(*row, id=name) for name, *row in ACCEPTED])
def test_read(body: bytes, kind: type, fields: dict[str, Any]) -> None:
    transaction = read_transaction(body)
    assert type(transaction) is kind
    assert msgspec.structs.asdict(transaction).items() >= fields.items()


@pytest.mark.parametrize("at", ["2000-01-01T00:00:00Z", "2099-12-31T23:59:59.999999Z", "2100-01-01T00:00:00+00:01"])
def test_the_edges_of_time_are_inside(at: str) -> None:
    assert lunch(occurred_at=at).key == "txn:rides:T-1001"


@pytest.mark.parametrize(
    ("facts", "key"),
    [
        (LUNCH, "txn:rides:T-1001"),
        (LUNCH | {"transaction_id": "a:b"}, "txn:rides:a:b"),
        (REFUND, "refund:rides:R-7"),
        (CANCELLED, "event:rides:booking.cancelled_by_driver:T-1001"),
    ],
    ids=["completed", "an id with a colon", "refunded", "event"],
)
def test_keys(facts: dict[str, Any], key: str) -> None:
    assert read(facts).key == key


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(sorted(LUNCH.values())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
changed_facts = st.dictionaries(st.sampled_from([*LUNCH, "refund_id"]), json_values, max_size=3).map(
    lambda changed: message(LUNCH | changed)
)
tampered_bytes = st.builds(
    lambda body, at, noise: body[:at] + noise + body[at + len(noise) :],
    st.sampled_from([message(facts) for facts in (LUNCH, REFUND, CANCELLED)]),
    st.integers(0, 300),
    st.binary(min_size=1, max_size=4),
)


@pytest.mark.long
@given(
    st.binary(max_size=64) | json_values.map(lambda value: json.dumps(value).encode()) | changed_facts | tampered_bytes
)
@settings(max_examples=400, deadline=None)
def test_any_bytes_are_a_transaction_or_are_set_aside(body: bytes) -> None:
    outcome = read_or_fault(body)
    if isinstance(outcome, SetAside):
        assert outcome.reason in (Reason.UNDECODABLE, Reason.INVALID)
        assert outcome.detail
        assert outcome.detail.isprintable(), "one line of a log"
        assert len(outcome.detail) < 400
    else:
        assert isinstance(outcome, Completed | Refunded | Event)
        assert outcome.key.startswith(("txn:", "refund:", "event:"))


def read_or_fault(body: bytes) -> Transaction | SetAside:
    try:
        return read_transaction(body)
    except SetAside as fault:
        return fault
