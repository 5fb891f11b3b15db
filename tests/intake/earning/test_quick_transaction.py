"""The quick reader of transactions reads as the reader that names faults does: the same values, or the same words."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abacus.core.errors import SetAside
from abacus.intake.earning.decide.transaction import (
    Transaction,
    encode_transaction,
    read_naming_faults,
    read_transaction,
)
from tests.support.cards import CANCELLED, LUNCH, REFUND, lunch, message

REDEEMED = LUNCH | {"redemption_id": "0A1B2C3D-0000-4000-8000-00000000000F"}


def outcome(read: Callable[[bytes], Transaction], body: bytes) -> object:
    try:
        transaction = read(body)
    except SetAside as fault:
        return str(fault)
    return transaction, str(transaction.occurred_at.tzinfo), transaction.key, transaction.fingerprint


def read_alike(body: bytes) -> None:
    assert outcome(read_transaction, body) == outcome(read_naming_faults, body)


def raw(**values: str) -> bytes:
    """A lunch with these JSON texts in the place of values."""
    fields = {name: json.dumps(value) for name, value in LUNCH.items()} | values
    return ("{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}").encode()


@pytest.mark.parametrize("facts", [LUNCH, REDEEMED, REDEEMED | {"redemption_id": None}, REFUND, CANCELLED])
def test_each_kind(facts: dict[str, Any]) -> None:
    read_alike(message(facts))
    read_alike(json.dumps(facts, indent="\t").encode())
    read_alike(message(dict(reversed(facts.items()))))


@pytest.mark.parametrize("transaction", [lunch(), lunch(**REDEEMED), lunch(occurred_at="2026-01-10T00:00:00.5Z")])
def test_there_and_back(transaction: Any) -> None:
    assert read_transaction(encode_transaction(transaction)) == transaction


IDS = (
    r'"a\nb"',
    r'"\ud800"',
    r'"\ud83d\ude00"',
    r'"\u0000"',
    '""',
    '" a"',
    '"a "',
    '"a b"',
    r'"\/"',
    '"é"',
    '"\u2028"',
)
VALUES: list[tuple[str, str]] = [
    *[(name, each) for name in ("transaction_id", "member_id", "source", "vertical") for each in IDS],
    *[("member_id", json.dumps("m" * length)) for length in (128, 129)],
    *[("source", each) for each in ('"a:b"', '"-a"', json.dumps("s" * 64), json.dumps("s" * 65), "7", "null")],
    *[("country", each) for each in (r'"SG\n"', '"\uff33\uff27"', '"sg"', '"SGP"', r'"SG\nMY"')],
    *[("currency", each) for each in (r'"SGD\n"', '"sgd"', '"SG"')],
    *[("amount", each) for each in ("15.0", '"15"', '"15."', '".5"', '"1e3"', '"-1"', '"0015.10"', '"NaN"', '"1_0"')],
    *[("amount", each) for each in ('"' + "9" * 15 + "." + "9" * 8 + '"', '"' + "9" * 16 + '"', '"1.123456789"')],
    *[("amount", '"\u0661\u0665"'), ("amount", r'"15\n"'), ("amount", r'"1\u0035"')],
    *[("redemption_id", each) for each in ("null", '""', "7", '"x"', '"0A1B2C3D-0000-4000-8000-00000000000F"')],
    *[("redemption_id", each) for each in (r'"0a1b2c3d-0000-4000-8000-00000000000f\n"', '"0\u212a1b2c3d-0000"')],
    *[("type", each) for each in ('"transaction.completed"', '"lunch"', "7", "null", r'"transaction\u002ecompleted"')],
    *[
        ("occurred_at", f'"{each}"')
        for each in (
            "2026-01-10T12:30:00+08:00",
            "2026-01-10T12:30:00",
            "2026-01-10T12:30:00Z",
            "2026-01-10t12:30:00z",
            "2026-01-10 12:30:00Z",
            "2026-01-10T12:30Z",
            "2026-01-10T12:30:00.1234567Z",
            "2026-01-10T24:00:00Z",
            "2026-01-10T12:30:60Z",
            "2026-01-10T12:30:00-00:00",
            "2026-01-10T12:30:00+23:59",
            "2026-01-10T12:30:00+24:00",
            "2026-02-30T12:30:00Z",
            "2100-01-01T00:00:00+00:01",
            "2100-01-01T00:00:00Z",
            "1999-12-31T23:59:59Z",
            "0001-01-01T00:00:00+14:00",
            "1768000000",
        )
    ],
    *[
        ("note", each)
        for each in (
            '"a,b"',
            '{"a":[1,2,NaN]}',
            '{"a":1,"a":2}',
            r'{"a":1,"\u0061":2}',
            "1e999",
            "-",
            "9" * 5000,
            r'"\ud800"',
            "[" * 60 + "]" * 60,
            "[" * 250 + "]" * 250,
            "[" * 2000 + "]" * 2000,
            '1,"amount":"16.00"',
            '1,"amount":16',
            '1,"member_id":"eve"',
            '1,"type":"lunch"',
            r'1,"typ\u0065":"lunch"',
        )
    ],
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_each_way_to_write_a_value(name: str, value: str) -> None:
    read_alike(raw(**{name: value}))
    read_alike(raw(**{name: value}, tip='"1.5"'))


BODIES = [
    b"",
    b"null",
    b"\xef\xbb\xbf" + message(LUNCH),
    message(LUNCH) + b" \n",
    message(LUNCH) + b"\x00",
    message(LUNCH).decode().encode("utf-16"),
    raw(member_id='"?"').replace(b"?", b"\xff"),
    raw(member_id='"?"').replace(b"?", b"\xed\xa0\x80"),
    raw(note='"?"').replace(b"?", b"\xff"),
    raw(note='{"?":1}').replace(b"?", b"\xff"),
    raw(note='"?"').replace(b"?", b"\n"),
]


@pytest.mark.parametrize("body", BODIES)
def test_each_way_to_write_a_message(body: bytes) -> None:
    read_alike(body)


PARTS = (b'"', b",", b":", b"{", b"}", b"[", b"]", b"\\", b"\xff", b"\x00", b" ", b"\n", b"0", b"e", b"-", b"null")
SEEDS = (message(LUNCH), message(REDEEMED), raw(note='{"a":[1,"x"]}'), message(REFUND), message(CANCELLED))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.sampled_from([*LUNCH.values()]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@given(
    st.sampled_from(SEEDS),
    st.lists(
        st.tuples(st.integers(0, 300), st.integers(0, 3), st.sampled_from(PARTS) | st.binary(max_size=3)), max_size=3
    ),
)
@example(SEEDS[0], [])
@settings(max_examples=500, deadline=None)
def test_bytes_that_are_put_out_of_place(seed: bytes, changes: list[tuple[int, int, bytes]]) -> None:
    body = seed
    for place, left_out, put_in in changes:
        body = body[:place] + put_in + body[place + left_out :]
    read_alike(body)


@given(
    st.sampled_from([LUNCH, REDEEMED]),
    st.dictionaries(st.sampled_from([*REDEEMED, "refund_id", "note"]), json_values, max_size=2),
)
@settings(max_examples=400, deadline=None)
def test_values_of_any_kind(facts: dict[str, Any], changed: dict[str, Any]) -> None:
    read_alike(message(facts | changed))
    read_alike(json.dumps(facts | changed, ensure_ascii=False).encode("utf-8", "surrogatepass"))


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_garbage(body: bytes) -> None:
    read_alike(body)
