"""A compressed envelope: what goes in comes out, and what lies, breaks off or grows without end is named."""

import base64
import json
import re
import tracemalloc
from typing import Any

import cramjam
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.errors import Reason, SetAside
from abacus.platform.sqs.compressed_envelope import MAX_UNPACKED, compressed, is_compressed, seen_through, unpack

WITHIN = b'{"v":1,"awards":[1,2,"\xc3\xa9"]}'
FAIR: dict[str, Any] = json.loads(compressed(WITHIN, 3))


def packed(content: bytes) -> str:
    return base64.b64encode(bytes(cramjam.zstd.compress(content))).decode()


def changed(**members: Any) -> bytes:
    return json.dumps(FAIR | members, separators=(",", ":")).encode()


def without(name: str) -> bytes:
    return json.dumps({key: value for key, value in FAIR.items() if key != name}).encode()


@given(st.binary(min_size=1, max_size=2_000) | st.integers(1, MAX_UNPACKED).map(bytes), st.integers(1, 400))
@settings(deadline=None)
def test_there_and_back(body: bytes, count: int) -> None:
    sent = compressed(body, count).encode()
    assert is_compressed(sent)
    assert unpack(sent) == (body, count)
    assert seen_through(sent) == body


def test_a_person_recognises_it() -> None:
    text = compressed(WITHIN, 3)
    assert re.fullmatch(
        r'\{"v":2,"format":"zstd\+base64","count":3,"bytes":27,"envelope":"[A-Za-z0-9+/]+={0,2}"\}', text
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"v":2,"format":"x"}', True),
        (b' {\n "v" : 2 }', True),
        (b'{"v":1,"awards":[]}', False),
        (b'{"v":21}', False),
        (b'{"v":2.0}', False),
        (b'{"v":"2"}', False),
        (b'{"awards":[],"v":2}', False),
        (b'[{"v":2}]', False),
        (b"", False),
    ],
)
def test_which_body_says_that_it_is_one(body: bytes, expected: bool) -> None:  # noqa: FBT001  # a table's column
    assert is_compressed(body) is expected


BOMB = packed(bytes(64 * 1024 * 1024))
BROKEN: list[tuple[str, bytes, Reason, str]] = [
    ("more bytes than it says", changed(bytes=26), Reason.UNDECODABLE, "not zstd of 26 bytes or fewer"),
    ("fewer bytes than it says", changed(bytes=28), Reason.INVALID, "27 bytes, and it says 28"),
    ("a bomb", changed(envelope=BOMB, bytes=MAX_UNPACKED), Reason.UNDECODABLE, "not zstd of 245760 bytes or fewer"),
    ("a bomb that says so", changed(envelope=BOMB, bytes=64 << 20), Reason.INVALID, "less than or equal to 245760"),
    ("no bytes", changed(bytes=0), Reason.INVALID, "bytes: Input should be greater than or equal to 1"),
    ("bytes as text", changed(bytes="27"), Reason.INVALID, "bytes: Input should be a valid integer"),
    ("no items", changed(count=0), Reason.INVALID, "count: Input should be greater than or equal to 1"),
    ("cut off", changed(envelope=packed(WITHIN)[:-8]), Reason.UNDECODABLE, "not zstd of 27 bytes or fewer"),
    ("not zstd", changed(envelope=base64.b64encode(WITHIN).decode()), Reason.UNDECODABLE, "not zstd of 27 bytes"),
    ("nothing", changed(envelope=""), Reason.UNDECODABLE, "not zstd of 27 bytes or fewer"),
    ("broken base64", changed(envelope="KLUv/Q="), Reason.UNDECODABLE, "broken base64"),
    ("base64 with junk", changed(envelope="KLUv/Q$="), Reason.UNDECODABLE, "broken base64"),
    ("letters beyond ASCII", changed(envelope="é"), Reason.UNDECODABLE, "broken base64"),
    ("another format", changed(format="zstd"), Reason.UNSUPPORTED, "format: Input should be 'zstd+base64', not 'zstd'"),
    ("no format", without("format"), Reason.UNSUPPORTED, "format: Field required"),
    ("no count", without("count"), Reason.INVALID, "count: Field required"),
    ("no envelope", without("envelope"), Reason.INVALID, "envelope: Field required"),
    ("cut-off JSON", changed()[:-1], Reason.UNDECODABLE, "not a compressed envelope: Invalid JSON"),
    ("a count that stands twice", changed()[:-1] + b',"count":3}', Reason.INVALID, "'count' stands twice"),
    ("the same, in other letters", changed()[:-1] + b',"c\\u006funt":3}', Reason.INVALID, "'count' stands twice"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "reason", "detail"), [pytest.param(*row, id=name) for name, *row in BROKEN])
def test_what_cannot_be_unpacked_is_named(body: bytes, reason: Reason, detail: str) -> None:
    with pytest.raises(SetAside) as aside:
        unpack(body)
    assert aside.value.reason is reason
    assert detail in aside.value.detail
    assert len(aside.value.detail) < 300, "the envelope is not repeated"


@pytest.mark.parametrize(
    ("body", "seen"),
    [
        pytest.param(changed(bytes=26), WITHIN, id="says fewer bytes"),
        pytest.param(changed(count=7), WITHIN, id="says more items"),
        pytest.param(without("format"), WITHIN, id="says no format"),
        pytest.param(changed(envelope="?"), changed(envelope="?"), id="broken base64"),
        pytest.param(b'{"v":2}', b'{"v":2}', id="nothing within"),
        pytest.param(WITHIN, WITHIN, id="not compressed"),
    ],
)
def test_what_a_person_sees(body: bytes, seen: bytes) -> None:
    assert seen_through(body) == seen


def test_of_a_long_one_the_beginning_is_seen_within_bounds() -> None:
    body = changed(envelope=packed(b"bob " * (16 << 20)))
    tracemalloc.start()
    try:
        assert seen_through(body) == b"bob " * (MAX_UNPACKED // 4)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * MAX_UNPACKED
