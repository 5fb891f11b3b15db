"""The envelopes on the expiry queue."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.programs.expiry.decide.envelope import MAX_ACCOUNTS, Envelope, decode_envelope, encode_envelope, parted
from abacus.programs.expiry.decide.month import Month
from tests.support.awards import printable

ENVELOPE = Envelope("SG", Month(2026, 7), 1, datetime(2026, 7, 31, 16, tzinfo=UTC), (("bob", "GRP"), ("jane", "OVO")))

accounts = st.lists(st.tuples(printable(128), st.sampled_from(["GRP", "OVO"])), min_size=1, max_size=20, unique=True)


@given(accounts.map(sorted).map(tuple))
def test_what_is_sent_is_what_arrives(some: tuple[tuple[str, str], ...]) -> None:
    envelope = ENVELOPE._replace(accounts=some)
    assert decode_envelope(encode_envelope(envelope)) == envelope


@pytest.mark.parametrize(
    ("count", "length", "sizes"),
    [
        (1, 5, [1]),
        (500, 5, [500]),
        (501, 5, [500, 1]),
        (1200, 5, [500, 500, 200]),
        (600, 400, [249, 249, 102]),
        (0, 5, []),
    ],
)
def test_as_few_parts_as_the_limits_allow(count: int, length: int, sizes: list[int]) -> None:
    some = [(f"m{number:0{length - 1}}", "GRP") for number in range(count)]
    parts = list(parted(some))
    assert [len(part) for part in parts] == sizes
    assert [account for part in parts for account in part] == some
    assert all(len(part) <= MAX_ACCOUNTS for part in parts)


@pytest.mark.parametrize(
    "change",
    [
        {"country": "Singapore"},
        {"month": "2026-13"},
        {"number": 0},
        {"number": "1"},
        {"lapsed_at": "2026-08-01T00:00:00"},
        {"accounts": []},
        {"accounts": [["bob"]]},
        {"accounts": [["bob", "grp"]]},
        {"accounts": [["", "GRP"]]},
        {"accounts": [["m", "GRP"]] * 501},
    ],
    ids=str,
)
def test_what_is_no_envelope(change: dict[str, Any]) -> None:
    body = json.dumps(json.loads(encode_envelope(ENVELOPE)) | change)
    with pytest.raises(SetAside) as fault:
        decode_envelope(body)
    assert fault.value.reason is Reason.INVALID
    assert next(iter(change)) in fault.value.detail


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", Reason.UNDECODABLE),
        ("nothing", Reason.UNDECODABLE),
        ("[]", Reason.INVALID),
        ("null", Reason.INVALID),
        ("{}", Reason.UNSUPPORTED),
        (encode_envelope(ENVELOPE).replace('"v":1', '"v":2'), Reason.UNSUPPORTED),
        (encode_envelope(ENVELOPE).replace('"v":1', '"v":"1"'), Reason.UNSUPPORTED),
    ],
)
def test_what_is_not_even_one_of_this_version(body: str, reason: Reason) -> None:
    with pytest.raises(SetAside) as fault:
        decode_envelope(body)
    assert fault.value.reason is reason
