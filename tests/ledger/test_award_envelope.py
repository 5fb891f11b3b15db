"""The award envelope: what goes in comes out, in few messages of bounded size, and a bad award spoils no other."""

import json
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.core.points import MAX_POINTS
from abacus.ledger.types.award_envelope import Award, Opened, decode_envelope, encode_award
from abacus.platform.sqs.compressed_envelope import compressed
from abacus.platform.sqs.packer import MAX_BYTES, MAX_ITEMS, pack
from tests.support.awards import AWARD, award, awards

MESSAGE: dict[str, Any] = orjson.loads(encode_award(AWARD))
FIRST, LAST = award(key="txn:rides:T-1"), award(key="txn:rides:T-2")


def envelope(*items: bytes) -> bytes:
    return b'{"v":1,"awards":[' + b",".join(items) + b"]}"


def raw(**values: str) -> bytes:
    """The award with these JSON texts in the place of values."""
    fields = {name: json.dumps(value) for name, value in MESSAGE.items()} | values
    return ("{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}").encode()


def without(name: str, **changed: str) -> bytes:
    return json.dumps({key: value for key, value in (MESSAGE | changed).items() if key != name}).encode()


def test_an_award_as_other_programs_see_it() -> None:
    assert next(pack("awards", [encode_award(AWARD)])) == (
        '{"v":1,"awards":[{"key":"txn:rides:T-1001","member_id":"bob","program":"GRP","country":"SG","kind":"earn",'
        '"points":180,"occurred_at":"2026-01-10T12:30:00+08:00","expires_on":"2026-07-31","activity":true,'
        '"fingerprint":"0123456789abcdef","explanation":{"amount":"15.00","points":180},'
        '"source":"stream"}]}'
    )


@pytest.mark.parametrize(
    ("key", "source"),
    [("txn:rides:T-1", "stream"), ("event:rides:booking.cancelled:T-1", "stream"), ("api:acme:o:1", "partner:acme")],
)
def test_an_award_that_was_packed_before_awards_had_a_source(key: str, source: str) -> None:
    (read,), _, _ = decode_envelope(envelope(without("source", key=key)))
    assert read == award(key=key, source=source)


@pytest.mark.long
@given(st.lists(awards, max_size=12), st.integers(1, 5), st.integers(200, 2000))
@settings(deadline=None)
def test_there_and_back_in_order(sent: list[Award], max_items: int, max_bytes: int) -> None:
    bodies = list(pack("awards", map(encode_award, sent), max_items=max_items, max_bytes=max_bytes))
    read = [decode_envelope(body) for body in bodies]
    assert [each for good, _, _ in read for each in good] == sent
    assert [each for _, _, bad in read for each in bad] == []


@given(st.lists(awards, min_size=1, max_size=3), st.integers(1, 400))
@settings(max_examples=30, deadline=None)
def test_messages_stay_within_the_limits(some: list[Award], count: int) -> None:
    sent = [
        some[number % len(some)]._replace(key=f"txn:rides:{number}", source="stream", transaction=None)
        for number in range(count)
    ]
    bodies = list(pack("awards", map(encode_award, sent)))
    read = [decode_envelope(body)[0] for body in bodies]
    assert [each for good in read for each in good] == sent
    for body, good in zip(bodies, read, strict=True):
        assert len(good) <= MAX_ITEMS
        assert len(body.encode()) <= MAX_BYTES or len(good) == 1


BAD: list[tuple[str, bytes, str]] = [
    ("a number", b"1", "Input should be an object"),
    ("null", b"null", "Input should be an object"),
    ("a list", b"[]", "Input should be an object"),
    ("an empty object", b"{}", "key: Field required (and 10 more)"),
    *[(f"no {name}", without(name), f"{name}: Field required") for name in MESSAGE if name != "source"],
    ("a source that is none", raw(source='"nowhere"'), "source: a text of another form is needed"),
    ("a source that contradicts the key", raw(source='"partner:acme"'), "source: 'partner:acme', but the key"),
    ("a partner's key from the stream", raw(key='"api:acme:1"'), "source: 'stream', but the key 'api:acme:1' is one"),
    ("no source, and a key that implies none", without("source", key="gift"), "source: missing, and the key 'gift'"),
    ("an empty key", raw(key='""'), "key: a text of another form is needed"),
    ("a key of 401 characters", raw(key=json.dumps("k" * 401)), "key: a text of another form is needed"),
    ("a key with a control character", raw(key=r'"a\u0000b"'), "key: a text of another form is needed"),
    ("a member with a newline", raw(member_id=r'"bob\n"'), "member_id: a text of another form is needed"),
    ("a program in small letters", raw(program='"grp"'), "program: a text of another form is needed"),
    ("a country of three letters", raw(country='"SGP"'), "country: a text of another form is needed"),
    ("a kind that is none", raw(kind='"gift"'), "kind: Input should be <TransferKind.EARN: 'earn'>"),
    ("negative points", raw(points="-1"), "points: Input should be greater than or equal to 0, not -1"),
    ("half a point", raw(points="0.5"), "points: Input should be a valid integer, not 0.5"),
    ("points as a float", raw(points="180.0"), "points: Input should be a valid integer, not 180.0"),
    ("points as text", raw(points='"180"'), "points: Input should be a valid integer, not '180'"),
    ("points that are true", raw(points="true"), "points: Input should be a valid integer, not True"),
    ("too many points", raw(points=str(MAX_POINTS + 1)), "points: Input should be less than or equal to 10000"),
    ("points past 64 bits", raw(points="1" * 25), "points: Input should be "),
    ("deeply nested points", raw(points="[" * 150 + "]" * 150), "points: Input should be a valid integer"),
    ("a time without an offset", raw(occurred_at='"2026-01-10T12:30:00"'), "occurred_at: Input should have timezone"),
    ("a time as a number", raw(occurred_at="1768000000"), "occurred_at: "),
    ("a time as a number in a string", raw(occurred_at='"1768000000"'), "occurred_at: "),
    ("a time of another century", raw(occurred_at='"1999-12-31T23:59:59Z"'), "occurred_at: Input should be greater"),
    ("a day that is not", raw(expires_on='"2026-02-30"'), "expires_on: Input should be a valid date"),
    ("a day as a number", raw(expires_on="20664"), "expires_on: "),
    ("a day in seconds", raw(expires_on="1785456000"), "expires_on: "),
    ("a day in seconds, in a string", raw(expires_on='"1785456000"'), "expires_on: "),
    ("a day with a time", raw(expires_on='"2026-07-31T00:00:00Z"'), "expires_on: "),
    ("a day far too late", raw(expires_on='"2110-01-01"'), "expires_on: Input should be less than 2110-01-01"),
    ("activity as a number", raw(activity="1"), "activity: Input should be a valid boolean"),
    ("activity as text", raw(activity='"true"'), "activity: Input should be a valid boolean"),
    ("a fingerprint of another kind", raw(fingerprint='"0123456789ABCDEF"'), "fingerprint: a text of another form"),
    ("an explanation that is text", raw(explanation='"because"'), "explanation: Input should be an object"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "detail"), [pytest.param(*row, id=name) for name, *row in BAD])
def test_a_bad_award_is_told_apart_from_its_neighbours(body: bytes, detail: str) -> None:
    good, _, bad = decode_envelope(envelope(encode_award(FIRST), body, encode_award(LAST)))
    assert [each.fault.reason for each in bad] == [Reason.INVALID]
    assert detail in bad[0].fault.detail
    assert good == [FIRST, LAST]


@given(st.lists(awards | st.sampled_from(range(len(BAD))), max_size=6))
@settings(max_examples=60, deadline=None)
def test_however_many_are_bad_none_is_lost(items: list[Award | int]) -> None:
    bodies = [encode_award(item) if isinstance(item, Award) else BAD[item][1] for item in items]
    good, _, bad = decode_envelope(envelope(*bodies))
    assert good == [item for item in items if isinstance(item, Award)]
    assert [json.loads(each.body) for each in bad] == [
        json.loads(body) for body, item in zip(bodies, items, strict=True) if isinstance(item, int)
    ]


# Values that some readers of JSON accept and others refuse or change: as the points, and in the explanation.
HARD = [
    ("an integer past 64 bits", "1" * 25),
    ("a long integer", "1" * 4000),
    ("a very long integer", "1" * 5000),
    ("a small number", "1e-400"),
    ("infinite", "1e999"),
    ("infinite, in words", "-Infinity"),
    ("not a number", "NaN"),
    ("many digits", "0.1000000000000000055511151231257827"),
    ("deeply nested", "[" * 150 + "]" * 150),
    ("very deeply nested", "[" * 300 + "]" * 300),
    ("nested to the edge", "[" * 900 + "]" * 900),
    ("nested beyond reading", "[" * 3000 + "]" * 3000),
    ("a lone surrogate", r'"\ud800"'),
]


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in HARD])
@pytest.mark.parametrize("field", ["points", "explanation", "note"])
def test_what_is_hard_to_read_is_never_a_crash_and_never_changed_in_silence(field: str, value: str) -> None:
    """At worst the envelope cannot be read at all, and is set aside whole."""
    written = f'{{"a":{value}}}' if field == "explanation" else value
    outcome = decoded_or_fault(envelope(encode_award(FIRST), raw(**{field: written}), encode_award(LAST)))
    if isinstance(outcome, SetAside):
        assert outcome.reason is Reason.UNDECODABLE
        return
    good, _, bad = outcome
    assert (good[0], good[-1], len(good) + len(bad)) == (FIRST, LAST, 3)
    for each in good[1:-1]:
        assert field != "points"
        assert meaning(each.explanation) == meaning(written.encode() if field == "explanation" else AWARD.explanation)


def meaning(text: bytes) -> str:
    """A number that is infinite or none keeps that meaning."""
    return repr(json.loads(text))


UNREADABLE: list[tuple[str, bytes | str, Reason, str]] = [
    ("nothing", b"", Reason.UNDECODABLE, "not JSON"),
    ("not UTF-8", b"\xff", Reason.UNDECODABLE, "not JSON"),
    ("a lone surrogate", '{"v":1,"awards":["\ud800"]}', Reason.UNDECODABLE, "not JSON"),
    ("cut off", b'{"v":1,"awards":[', Reason.UNDECODABLE, "not JSON"),
    ("nested without end", b"[" * 100_000, Reason.UNDECODABLE, "not JSON"),
    ("null", b"null", Reason.INVALID, "not an award envelope: no list of awards"),
    ("a list", b"[]", Reason.INVALID, "not an award envelope: no list of awards"),
    ("an empty object", b"{}", Reason.INVALID, "not an award envelope: no list of awards"),
    ("awards that are no list", b'{"v":1,"awards":{}}', Reason.INVALID, "not an award envelope: no list of awards"),
    ("a retry envelope", b'{"v":1,"retries":[]}', Reason.INVALID, "not an award envelope: no list of awards"),
    ("no version", b'{"awards":[]}', Reason.UNSUPPORTED, "envelope version None; this version reads 1 and 2"),
    ("the next version", b'{"v":3,"awards":[]}', Reason.UNSUPPORTED, "envelope version 3; this version reads 1 and 2"),
    ("version 2, not compressed", b'{"v":2,"awards":[]}', Reason.UNSUPPORTED, "format: Field required"),
    ("version 2 in version 2", compressed(compressed(b"{}", 1).encode(), 1), Reason.INVALID, "not an award envelope"),
    ("fewer awards than it says", compressed(envelope(encode_award(AWARD)), 2), Reason.INVALID, "1 awards; the enve"),
    ("more awards than it says", compressed(envelope(b"{}", b"{}"), 1), Reason.INVALID, "2 awards; the envelope says"),
    ("compressed, and not JSON", compressed(b"awards", 1), Reason.UNDECODABLE, "not JSON"),
    ("compressed retries", compressed(b'{"v":1,"retries":[]}', 1), Reason.INVALID, "not an award envelope"),
    ("points that stand twice", envelope(raw(points='1,"points":2')), Reason.INVALID, "'points' stands twice"),
    ("the same, in other letters", envelope(raw(points='1,"p\\u006fints":2')), Reason.INVALID, "'points' stands twice"),
    ("two values in an explanation", envelope(raw(explanation='{"a":1,"a":1}')), Reason.INVALID, "'a' stands"),
    ("in a field that nobody asked for", envelope(raw(note='[{"a":1,"a":2}]')), Reason.INVALID, "'a' stands twice"),
    ("beside a bad award", envelope(b"{}", raw(points='1,"points":2')), Reason.INVALID, "'points' stands twice"),
    ("two lists of awards", b'{"v":1,"awards":[],"awards":[]}', Reason.INVALID, "'awards' stands twice"),
    ("the version as text", b'{"v":"1","awards":[]}', Reason.UNSUPPORTED, "envelope version '1'; this version reads"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reason", "detail"), [pytest.param(*row, id=name) for name, *row in UNREADABLE])
def test_unreadable_envelopes(body: bytes | str, reason: Reason, detail: str) -> None:
    with pytest.raises(SetAside) as aside:
        decode_envelope(body)
    assert aside.value.reason is reason
    assert detail in aside.value.detail


@pytest.mark.parametrize("body", [b'{"v":1,"awards":[]}', b'{"v":1,"awards":[],"note":null}'])
def test_an_empty_envelope_is_nothing_to_do(body: bytes) -> None:
    assert decode_envelope(body) == ([], [], [])


def test_unknown_fields_and_other_ways_to_write_are_read() -> None:
    written = json.dumps(MESSAGE | {"occurred_at": "2026-01-10T04:30:00Z", "note": [1, {}]}, indent=2).encode()
    assert decode_envelope(envelope(written)) == ([AWARD], [], [])


def test_a_compressed_envelope_is_read_as_the_one_within() -> None:
    within = envelope(encode_award(FIRST), b"{}", encode_award(LAST))
    good, reversals, ((bad, fault),) = decode_envelope(compressed(within, 3))
    assert (good, reversals, bad, fault.detail) == ([FIRST, LAST], [], b"{}", "key: Field required (and 10 more)")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
changed_awards = st.dictionaries(st.sampled_from(sorted(MESSAGE)), json_values, max_size=2).map(
    lambda changed: envelope(json.dumps(MESSAGE | changed).encode())
)


@given(
    st.binary(max_size=40)
    | json_values.map(lambda value: json.dumps({"v": 1, "awards": [value]}).encode())
    | changed_awards
)
@example(b'{"v":1,"awards":[1,null,"x",[],{}]}')
@settings(max_examples=300, deadline=None)
def test_any_body_is_read_or_set_aside_and_what_was_read_can_be_sent_again(body: bytes) -> None:
    outcome = decoded_or_fault(body)
    if isinstance(outcome, SetAside):
        assert outcome.reason in (Reason.UNDECODABLE, Reason.INVALID, Reason.UNSUPPORTED)
    else:
        good, reversals, bad = outcome
        assert len(good) + len(reversals) + len(bad) == len(json.loads(body)["awards"])
        assert decode_envelope(envelope(*map(encode_award, good))) == (good, [], [])


def decoded_or_fault(body: bytes) -> Opened | SetAside:
    try:
        return decode_envelope(body)
    except SetAside as fault:
        return fault
