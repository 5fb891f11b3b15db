"""The quick reader of envelopes reads as the reader that names faults does: the same values, or the same words."""

import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abacus.core.errors import SetAside
from abacus.ledger.types.award_columns import read_columns
from abacus.ledger.types.award_envelope import Award, Opened, decode_envelope, decode_naming_faults, encode_award
from tests.support.awards import AWARD, award, awards

MESSAGE: dict[str, Any] = orjson.loads(encode_award(AWARD))
UTC_AWARD: dict[str, Any] = MESSAGE | {"occurred_at": "2026-01-10T04:30:00.123456+00:00"}


def envelope(*items: bytes) -> bytes:
    return b'{"v":1,"awards":[' + b",".join(items) + b"]}"


def outcome(read: Callable[[bytes], Opened], body: bytes) -> object:
    try:
        opened = read(body)
    except SetAside as fault:
        return str(fault)
    bad = [(each.body, str(each.fault)) for each in opened.bad]
    zones = [str(each.occurred_at.tzinfo) for each in opened.awards]
    kinds = [type(value) for each in opened.awards for value in each]
    return opened.awards, zones, kinds, opened.reversals, bad


def read_alike(body: bytes) -> None:
    assert outcome(decode_envelope, body) == outcome(decode_naming_faults, body)


def written(**values: str) -> bytes:
    """An award with these JSON texts in the place of values."""
    fields = {name: orjson.dumps(value).decode() for name, value in UTC_AWARD.items()} | values
    return ("{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}").encode()


@given(st.lists(awards.map(lambda each: each._replace(transaction=None)), min_size=1, max_size=5))
@settings(max_examples=100, deadline=None)
def test_what_our_writers_write_is_read_quickly(sent: list[Award]) -> None:
    body = envelope(*map(encode_award, sent))
    assert read_columns(body) is not None
    assert decode_envelope(body) == (sent, [], [])
    read_alike(body)


VALUES: list[tuple[str, str]] = [
    *[("points", each) for each in ("-0", "0", "1.0", "1e2", "1" * 25, "1000000000000000", "1000000000000001", "true")],
    *[("points", each) for each in ("NaN", "Infinity", "01", "+1", "null", '"1"', "-1")],
    *[("key", each) for each in (r'"a\nb"', r'"\ud800"', r'"\u0000"', '"txn:x"', '""', '" a"', '"a "', r'"\/"', '"é"')],
    *[("key", json.dumps("k" * length)) for length in (400, 401)],
    *[("member_id", each) for each in (r'"bob\ncarol"', '"bob\\n"', '"\x7f"', '"\u2028"', '"\ufffe"', '"\xa0"', "7")],
    *[("member_id", json.dumps("m" * length)) for length in (128, 129)],
    *[("program", each) for each in (r'"GRP\n"', r'"GRP\nOVO"', '"Ⅷ"', '"GRP_1"', '""')],
    *[("country", each) for each in (r'"SG\n"', '"\uff33\uff27"', '"sg"', '"SGP"')],
    *[("kind", each) for each in ('"exchange_in"', '"reverse"', '"spend"', '"EARN"', "1")],
    *[("fingerprint", each) for each in ('"0123456789abcdeF"', '"٣' + "0" * 16 + '"', r'"0123456789abcdef\n"')],
    *[("activity", each) for each in ("false", "0", '"true"', "null")],
    *[("lifetime", each) for each in ("true", "false", "null", "1", '"true"')],
    *[("source", each) for each in ('"stream"', '"partner:acme"', '""', "null", '"person:ann"', r'"stream\n"')],
    *[
        ("occurred_at", f'"{each}"')
        for each in (
            "2026-01-10T04:30:00Z",
            "2026-01-10T04:30:00z",
            "2026-01-10t04:30:00Z",
            "2026-01-10 04:30:00Z",
            "2026-01-10T04:30Z",
            "2026-01-10T04:30:00",
            "2026-01-10T04:30:00.1+08:00",
            "2026-01-10T04:30:00.1234567+00:00",
            "2026-01-10T04:30:00,5+00:00",
            "2026-01-10T04:30:60Z",
            "2026-01-10T24:00:00Z",
            "2026-01-10T04:30:00-00:00",
            "2026-01-10T04:30:00+23:59",
            "2026-01-10T04:30:00+24:00",
            "2026-01-10T04:30:00+0800",
            "2026-01-10T04:30:00+08",
            "2026-01-10T04:30:00+08:00:30",
            "2026-02-30T04:30:00Z",
            "2000-01-01T00:00:00+00:00",
            "2000-01-01T00:00:00+08:00",
            "1999-12-31T23:59:59-08:00",
            "2099-12-31T23:59:59.999999Z",
            "2100-01-01T00:00:00Z",
            "2100-01-01T07:59:59+08:00",
            "0001-01-01T00:00:00+14:00",
            "\uff12026-01-10T04:30:00Z",
            "1768000000",
            "1768000000T",
        )
    ],
    *[
        (name, each)
        for name in ("expires_on", "vests_on")
        for each in ('"2026-07-31"', '"2109-12-31"', '"2110-01-01"', '"2000-01-01"', '"1999-12-31"', '"2026-W31-5"')
    ],
    *[
        ("expires_on", each)
        for each in ('"2026-02-30"', '"20260731"', '"2026-7-31"', '"2026-07-3\uff11"', "20664", "null")
    ],
    *[
        ("explanation", each)
        for each in (
            "{}",
            "[]",
            '"x"',
            "null",
            '{"a": 1}',
            '{"a":1.0,"b":1e22,"c":-0.0,"d":1e-7}',
            '{"a":1e5}',
            '{"a":1.10}',
            '{"a":18446744073709551615,"b":-9223372036854775808}',
            '{"a":18446744073709551616}',
            '{"a":1e400}',
            '{"a":NaN}',
            '{"a":null,"b":[true,false]}',
            '{"a":1,"a":1}',
            '{"a":{"b":1,"b":2}}',
            r'{"a":"\u00e9"}',
            r'{"a":"\"\\\n"}',
            r'{"a":"\ud800"}',
            '{"é":"😀"}',
            '{"a":"a,b"}',
            '{"a":' + "[" * 120 + "]" * 120 + "}",
            '{"a":' + "[" * 190 + "]" * 190 + "}",
            '{"a":' + "[" * 240 + "]" * 240 + "}",
            '{"a":' * 300 + "1" + "}" * 300,
        )
    ],
]


@pytest.mark.parametrize(("name", "value"), VALUES)
def test_each_way_to_write_a_value(name: str, value: str) -> None:
    read_alike(envelope(written(**{name: value})))
    read_alike(envelope(written(), written(**{name: value}), written()))


@pytest.mark.parametrize("on", ['"2026-01-20"', '"2026-01-20T00:00:00Z"', "null", None])
@pytest.mark.parametrize("at", ['"2026-01-19T16:00:00+00:00"', '"2026-01-22T00:00:00+00:00"', '"2026-01-20"', None])
def test_when_points_vest(on: str | None, at: str | None) -> None:
    values = {name: value for name, value in (("vests_on", on), ("vests_at", at)) if value is not None}
    read_alike(envelope(written(**values), written()))


BODIES: list[bytes] = [
    envelope(),
    envelope(written())[:-1] + b',"by":"api.1","mac":"00"}',
    envelope(written())[:-1] + b',"by":null}',
    envelope(written())[:-1] + b',"v":1}',
    envelope(written()).replace(b'"v":1', b'"v":1.0'),
    envelope(written()).replace(b'"v":1', b'"v":true'),
    envelope(written()).replace(b'"v":1', b'"v": 1'),
    envelope(written()).replace(b'"v":1,', b""),
    b'{"awards":[' + written() + b'],"v":1}',
    b"\xef\xbb\xbf" + envelope(written()),
    b" \n" + envelope(written()) + b"\n ",
    envelope(written()) + b"\x00",
    envelope(written(note='"x"')),
    envelope(written(note="[1,{}]"), written()),
    envelope(written(points='1,"points":2')),
    envelope(written(points='1,"p\\u006fints":2')),
    envelope(written(explanation='{"a":"\xff"}').replace("\xff".encode(), b"\xff")),
    envelope(written(member_id='"\xff"').replace("\xff".encode(), b"\xff")),
    envelope(written(member_id='"\xff"').replace("\xff".encode(), b"\xed\xa0\x80")),
    envelope(written(), b"7", written()),
    envelope(written()).decode().encode("utf-16"),
    envelope(encode_award(award(key="api:acme:1", source="partner:acme")), written()),
]


@pytest.mark.parametrize("body", BODIES)
def test_each_way_to_write_an_envelope(body: bytes) -> None:
    read_alike(body)


PARTS = (
    b'"',
    b",",
    b":",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\\",
    b"\xff",
    b"\x00",
    b" ",
    b"\n",
    b"0",
    b"1",
    b"e",
    b"-",
    b"null",
)
GOOD = envelope(written(), written(vests_on='"2026-01-20"', vests_at='"2026-01-19T16:00:00+00:00"'))

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
places = st.integers(0, len(GOOD) - 1)


@given(st.lists(st.tuples(places, st.integers(0, 3), st.sampled_from(PARTS) | st.binary(max_size=3)), max_size=3))
@example([])
@settings(max_examples=500, deadline=None)
def test_bytes_that_are_put_out_of_place(changes: list[tuple[int, int, bytes]]) -> None:
    body = GOOD
    for place, left_out, put_in in changes:
        body = body[:place] + put_in + body[place + left_out :]
    read_alike(body)


@given(st.dictionaries(st.sampled_from([*UTC_AWARD, "lifetime", "vests_on", "note"]), json_values, max_size=2))
@settings(max_examples=300, deadline=None)
def test_values_of_any_kind(changed: dict[str, Any]) -> None:
    read_alike(envelope(written(), json.dumps(UTC_AWARD | changed, separators=(",", ":")).encode()))
    read_alike(
        envelope(
            json.dumps(UTC_AWARD | changed, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
        )
    )


@given(st.dictionaries(st.text(max_size=4), json_values, max_size=4))
@settings(max_examples=300, deadline=None)
def test_any_explanation(explanation: dict[str, Any]) -> None:
    text = json.dumps(explanation, separators=(",", ":"), ensure_ascii=False)
    read_alike(envelope(written(explanation=text)) if text.isprintable() else b"")


@given(st.binary(max_size=60))
@settings(max_examples=200, deadline=None)
def test_garbage(body: bytes) -> None:
    read_alike(body)
    read_alike(envelope(body))
