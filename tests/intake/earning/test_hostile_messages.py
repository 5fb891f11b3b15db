"""Messages of the stream and the queues that are made to cost much: set aside, for a bounded amount of work."""

import contextlib
import gc
import json
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from abacus.core.errors import Reason, SetAside
from abacus.intake.earning.decide.source_message import SourceMessage, decode_retries, encode_retry
from abacus.intake.earning.decide.transaction import MAX_BYTES, read_transaction
from abacus.ledger.types.award_envelope import MOST_AWARDS, decode_envelope, encode_award
from abacus.platform.sqs.compressed_envelope import MAX_UNPACKED, compressed
from tests.ledger.ledgers import award

QUEUED: Final = 256 * 1024  # bytes of a message on a queue
_TRIES: Final = 15
AS_MUCH_WORK: Final = 25  # times the work for good messages of the same size: each missing field keeps the message

MEAL: Final = {
    "type": "transaction.completed",
    "source": "meals",
    "transaction_id": "T-1",
    "member_id": "bob",
    "country": "SG",
    "vertical": "food",
    "payment_type": "wallet",
    "amount": "15.00",
    "currency": "SGD",
    "occurred_at": "2026-06-10T12:30:00+08:00",
}


def work(read: Callable[[bytes], Any], body: bytes) -> float:
    """In seconds of the processor. What the garbage collector does, it does for the whole process and all tests before
    this one.
    """
    gc.disable()
    try:
        began = time.process_time()
        with contextlib.suppress(SetAside):
            read(body)
        return time.process_time() - began
    finally:
        gc.enable()


def is_bounded(read: Callable[[bytes], Any], body: bytes, read_good: Callable[[bytes], Any], good: bytes) -> bool:
    """Whether a body costs less than `AS_MUCH_WORK` times a good one, each at its least of as many tries, in turns:
    neighbours on the machine make work dearer, never cheaper.
    """
    spent = [(work(read, body), work(read_good, good)) for _ in range(_TRIES)]
    return min(each for each, _ in spent) < AS_MUCH_WORK * min(each for _, each in spent)


def members(size: int) -> bytes:
    return b"{" + b",".join(b'"k%d":0' % number for number in range(size // 10)) + b"}"


def items(start: bytes, item: bytes, size: int) -> bytes:
    return start + b",".join([item] * (size // (len(item) + 1))) + b"]}"


GOOD_AWARDS: Final = items(b'{"v":1,"awards":[', encode_award(award()), QUEUED)
GOOD_RETRIES: Final = items(
    b'{"v":1,"retries":[', encode_retry(SourceMessage(json.dumps(MEAL).encode(), "topic/0/0")), QUEUED
)

AWARDS: Final = {
    "empty awards": items(b'{"v":1,"awards":[', b"{}", QUEUED),
    "numbers": items(b'{"v":1,"awards":[', b"0", QUEUED),
    "an award of unknown fields": b'{"v":1,"awards":[' + members(QUEUED) + b"]}",
    "brackets": b'{"v":1,"awards":' + b"[" * QUEUED,
    "a version of its own length": b'{"v":"' + b"x" * QUEUED + b'","awards":[]}',
    "a number of its own length": b'{"v":1,"awards":[' + b"9" * QUEUED + b"]}",
    "a bomb": compressed(bytes(64 << 20), 1).encode().replace(b"67108864", b"245760"),
    "compressed brackets": compressed(b'{"v":1,"awards":' + b"[" * (MAX_UNPACKED - 17), 1).encode(),
    "compressed empty awards": compressed(items(b'{"v":1,"awards":[', b"{}", MAX_UNPACKED), 1).encode(),
    "a long key": b'{"v":1,"awards":[{"key":"' + b"k" * QUEUED + b'"}]}',
}


@pytest.mark.parametrize("name", AWARDS)
def test_an_award_envelope_costs_no_more_than_its_size_allows(name: str) -> None:
    assert is_bounded(decode_envelope, AWARDS[name], decode_envelope, GOOD_AWARDS)


RETRIES: Final = {
    "empty retries": items(b'{"v":1,"retries":[', b"{}", QUEUED),
    "a retry of unknown fields": b'{"v":1,"retries":[' + members(QUEUED) + b"]}",
    "unknown fields": members(QUEUED),
}


@pytest.mark.parametrize("name", RETRIES)
def test_a_retry_envelope_costs_no_more_than_its_size_allows(name: str) -> None:
    with pytest.raises(SetAside) as fault:
        decode_retries(RETRIES[name])
    assert len(fault.value.detail) < 300
    assert is_bounded(decode_retries, RETRIES[name], decode_retries, GOOD_RETRIES)


TRANSACTIONS: Final = {
    "unknown fields": members(MAX_BYTES - 10),
    "brackets": b'{"type":' + b"[" * (MAX_BYTES - 100),
    "a long name": json.dumps({**MEAL, "source": "x" * (MAX_BYTES - 1000)}).encode(),
    "a long amount": json.dumps({**MEAL, "amount": "9" * (MAX_BYTES - 1000)}).encode(),
}


@pytest.mark.parametrize("name", TRANSACTIONS)
def test_a_transaction_costs_no_more_than_its_size_allows(name: str) -> None:
    def read_each(good: bytes) -> None:
        for _ in range(MAX_BYTES // len(good)):
            read_transaction(good)

    good = json.dumps(MEAL).encode()
    assert len(TRANSACTIONS[name]) <= MAX_BYTES
    assert is_bounded(read_transaction, TRANSACTIONS[name], read_each, good)


def test_an_envelope_of_too_many_awards_is_set_aside_whole() -> None:
    with pytest.raises(SetAside) as fault:
        decode_envelope(items(b'{"v":1,"awards":[', b"{}", 3 * (MOST_AWARDS + 2)))
    assert (fault.value.reason, fault.value.detail[:11]) == (Reason.INVALID, "1002 awards")


@pytest.mark.parametrize("depth", range(100, 1200, 7))
def test_an_award_of_any_depth_is_told_or_set_aside(depth: int) -> None:
    deep = b'{"v":1,"awards":[{"explanation":' + b"[" * depth + b"]" * depth + b"}]}"
    with contextlib.suppress(SetAside):
        assert len(decode_envelope(deep).bad) == 1


def test_of_an_unknown_version_the_beginning_is_told() -> None:
    with pytest.raises(SetAside) as fault:
        decode_envelope(AWARDS["a version of its own length"])
    assert (fault.value.reason, len(fault.value.detail) < 80) == (Reason.UNSUPPORTED, True)
