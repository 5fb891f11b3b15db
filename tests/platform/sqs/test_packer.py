"""Packing many items into few messages, and messages into calls."""

import json
import random
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from abacus.platform.sqs.compressed_envelope import MAX_UNPACKED, is_compressed, unpack
from abacus.platform.sqs.packer import (
    MAX_BYTES,
    MAX_COMPRESSED_BYTES,
    MAX_COMPRESSED_ITEMS,
    MAX_ITEMS,
    pack,
    pack_compressed,
)
from abacus.platform.sqs.port import CALL_ITEMS
from abacus.platform.sqs.queue import CALL_BYTES, calls_of

EMPTY = len('{"v":1,"awards":[]}')


def test_the_limits_are_those_of_the_contract() -> None:
    assert (MAX_ITEMS, MAX_BYTES) == (100, 24 * 1024)
    assert (CALL_ITEMS, CALL_BYTES) == (10, 250 * 1024)
    assert CALL_BYTES <= 256 * 1024
    assert (MAX_COMPRESSED_ITEMS, MAX_COMPRESSED_BYTES) == (400, 48 * 1024)
    assert MAX_UNPACKED <= CALL_BYTES, "an envelope that was unpacked can be sent as it is"


items = st.lists(
    st.text("aé😀", max_size=30).map(lambda text: json.dumps(text, ensure_ascii=False).encode()), max_size=30
)


@given(items, st.integers(1, 6), st.integers(1, 150))
@example([b"1", b"2"], 6, EMPTY + 3)
@example([b"1", b"2"], 6, EMPTY + 2)
@settings(max_examples=200, deadline=None)
def test_items_are_packed_in_order_within_the_limits_and_as_few_as_they_allow(
    items: list[bytes], max_items: int, max_bytes: int
) -> None:
    bodies = list(pack("awards", items, max_items=max_items, max_bytes=max_bytes))
    packed = [json.loads(body)["awards"] for body in bodies]
    assert [each for group in packed for each in group] == [json.loads(item) for item in items]
    assert all(packed), "no message is empty"
    for body, group in zip(bodies, packed, strict=True):
        assert len(group) <= max_items
        assert len(body.encode()) <= max_bytes or len(group) == 1
    for body, (group, following) in zip(bodies, pairwise(packed), strict=False):
        one_more = len(body.encode()) + 1 + len(json.dumps(following[0], ensure_ascii=False).encode())
        assert len(group) == max_items or one_more > max_bytes


@pytest.mark.parametrize(
    ("name", "items", "bodies"),
    [
        ("awards", [], []),
        ("awards", [b"1"], ['{"v":1,"awards":[1]}']),
        ("retries", [b"1", b'"\xc3\xa9"', b"{}"], ['{"v":1,"retries":[1,"é",{}]}']),
        ("awards", [b"1"] * 101, [f'{{"v":1,"awards":[{",".join("1" * 100)}]}}', '{"v":1,"awards":[1]}']),
    ],
    ids=["nothing", "one", "three", "one too many"],
)
def test_bodies(name: str, items: list[bytes], bodies: list[str]) -> None:
    assert list(pack(name, items)) == bodies


@pytest.mark.parametrize(
    ("lengths", "groups"),
    [
        ([MAX_BYTES - EMPTY - 2], [1]),
        ([MAX_BYTES], [1]),
        ([3 * MAX_BYTES, 1], [1, 1]),
        ([1, 3 * MAX_BYTES, 1], [1, 1, 1]),
        ([8000, 8000, 8000], [3]),
        ([8000, 8000, 8600], [2, 1]),
    ],
)
def test_items_that_are_large(lengths: list[int], groups: list[int]) -> None:
    packed = [json.loads(body)["awards"] for body in pack("awards", [b'"%s"' % (b"x" * n) for n in lengths])]
    assert [len(group) for group in packed] == groups
    assert [len(item) for group in packed for item in group] == lengths


def unpacked(body: str, count: int) -> list[Any]:
    """The items of a message, which says how many it has."""
    text = body.encode()
    if is_compressed(text):
        text, said = unpack(text)
        assert said == count
    read: list[Any] = json.loads(text)["awards"]
    assert len(read) == count
    return read


LONG: Final = st.builds(lambda text, times: json.dumps(text * times, ensure_ascii=False).encode(),
                        st.text("aé😀", max_size=30), st.integers(1, 40))  # fmt: skip


@given(st.lists(LONG, max_size=30), st.integers(1, 30), st.integers(200, 3000))
@settings(max_examples=200, deadline=None)
def test_compressed_messages_have_the_items_in_order_within_the_limits(
    items: list[bytes], max_items: int, max_bytes: int
) -> None:
    packed = list(pack_compressed("awards", items, max_items=max_items, max_bytes=max_bytes))
    assert [each for body, count in packed for each in unpacked(body, count)] == [json.loads(item) for item in items]
    for body, count in packed:
        assert 1 <= count <= max_items
        assert len(body.encode()) <= max(max_bytes, 2048) or count == 1


@pytest.mark.parametrize(
    ("items", "counts", "are_compressed"),
    [
        ([], [], False),
        ([b'"%s"' % (b"x" * 500)] * 3, [3], False),
        ([b'"%s"' % (b"x" * 500)] * 5, [5], True),
        ([b'"%s"' % (b"x" * 500)] * 401, [400, 1], None),
        ([b'"%s"' % (b"x" * 2500)], [1], True),
        ([b'"%s"' % (b"x" * (MAX_UNPACKED - EMPTY - 2))], [1], True),
        ([b'"%s"' % (b"x" * (MAX_UNPACKED - EMPTY - 1))], [1], False),
        ([b'"%s"' % (b"x" * 100_000)] * 3, [2, 1], True),
        ([b'"%s"' % random.Random(1).randbytes(45_000).hex().encode()], [1], False),
        ([b'"%s"' % random.Random(n).randbytes(300).hex().encode() for n in range(400)], [100] * 4, True),
    ],
    ids=[
        "nothing",
        "too few to be worth it",
        "five",
        "one more than a message has",
        "one that is long",
        "one that just fits",
        "one that does not",
        "as many as fit when they are unpacked",
        "one that cannot be compressed",
        "cut where they cannot be compressed well",
    ],
)
def test_what_is_compressed(items: list[bytes], counts: list[int], are_compressed: bool | None) -> None:  # noqa: FBT001  # a row
    packed = list(pack_compressed("awards", items))
    assert [count for _, count in packed] == counts
    assert [each for body, count in packed for each in unpacked(body, count)] == [json.loads(item) for item in items]
    if are_compressed is not None:
        assert {is_compressed(body.encode()) for body, _ in packed} <= {are_compressed}


bodies_ = st.lists(st.integers(0, 300 * 1024).map(lambda length: "x" * length) | st.text(max_size=9), max_size=25)


@given(bodies_)
@settings(max_examples=60, deadline=None)
def test_calls_carry_all_bodies_in_order_within_the_limits_and_are_as_few_as_they_allow(bodies: list[str]) -> None:
    calls = list(calls_of(bodies))
    assert [body for call in calls for body in call] == bodies
    for call in calls:
        assert 1 <= len(call) <= CALL_ITEMS
        assert sum(len(body.encode()) for body in call) <= CALL_BYTES or len(call) == 1
    for call, following in pairwise(calls):
        one_more = sum(len(body.encode()) for body in [*call, following[0]])
        assert len(call) == CALL_ITEMS or one_more > CALL_BYTES


@pytest.mark.parametrize(
    ("bodies", "calls"),
    [
        ([], []),
        (["x"] * 10, [10]),
        (["x"] * 11, [10, 1]),
        (["x" * MAX_BYTES] * 10, [10]),
        (["x" * (CALL_BYTES // 2)] * 2, [2]),
        (["x" * (CALL_BYTES // 2), "x" * (CALL_BYTES // 2 + 1)], [1, 1]),
        (["é" * (CALL_BYTES // 4)] * 2, [2]),
        (["é" * (CALL_BYTES // 4)] * 3, [2, 1]),
        (["x", "x" * (CALL_BYTES + 1), "x"], [1, 1, 1]),
    ],
    ids=[
        "none",
        "ten",
        "eleven",
        "ten full envelopes",
        "both fit",
        "a byte too many",
        "bytes",
        "not letters",
        "too large",
    ],
)
def test_calls(bodies: list[str], calls: list[int]) -> None:
    assert [len(call) for call in calls_of(bodies)] == calls
