"""The awards and transactions that a message speaks of: one row a case."""

import base64
import json
from typing import Any

import pytest

from abacus.oversight.where.decide.mentions import Mention, Wanted, mentions
from abacus.platform.sqs.compressed_envelope import compressed

MEAL = {"type": "transaction.completed", "source": "meals", "transaction_id": "T-1", "country": "SG", "amount": "x"}
IN_BASE64 = base64.b64encode(json.dumps(MEAL).encode()).decode()
OF_MEAL = Mention("txn:meals:T-1", "meals", "SG", ("T-1",))

CASES: list[tuple[str, Any, list[Mention]]] = [
    ("a transaction", MEAL, [OF_MEAL]),
    (
        "a refund",
        {**MEAL, "type": "transaction.refunded", "refund_id": "R-1"},
        [Mention("refund:meals:R-1", "meals", "SG", ("T-1", "R-1"))],
    ),
    ("an event", {**MEAL, "type": "seminar"}, [Mention("event:meals:seminar:T-1", "meals", "SG", ("T-1",))]),
    ("no source", {"type": "seminar", "transaction_id": "T-1"}, [Mention(None, None, None, ("T-1",))]),
    ("no type", {"source": "meals", "transaction_id": "T-1"}, [Mention(None, "meals", None, ("T-1",))]),
    ("an award", {"key": "txn:meals:T:1", "country": "SG"}, [Mention("txn:meals:T:1", "meals", "SG", ("T:1",))]),
    ("an event's award", {"key": "event:m:seminar:T-1"}, [Mention("event:m:seminar:T-1", "m", None, ("T-1",))]),
    ("a partner's award", {"key": "api:acme:k", "country": 7}, [Mention("api:acme:k", "acme", None, ("k",))]),
    ("awards", {"v": 1, "awards": [{"key": "api:acme:k"}, 7]}, [Mention("api:acme:k", "acme", None, ("k",))]),
    ("retries", {"retries": [{"transaction": json.dumps(MEAL)}, 7]}, [OF_MEAL]),
    ("retries in base64", {"retries": [{"transaction_base64": IN_BASE64}]}, [OF_MEAL]),
    ("broken base64", {"retries": [{"transaction_base64": "?"}]}, []),
    ("a list", [MEAL], []),
    ("a number", 7, []),
]  # fmt: skip


@pytest.mark.parametrize(("document", "expected"), [pytest.param(*row, id=name) for name, *row in CASES])
def test_a_message_speaks_of_them(document: Any, expected: list[Mention]) -> None:
    assert list(mentions(json.dumps(document).encode())) == expected


def test_a_compressed_envelope_speaks_of_its_awards() -> None:
    body = compressed(b'{"v":1,"awards":[{"key":"api:acme:k"}]}', 1)
    assert list(mentions(body)) == list(mentions(body.encode())) == [Mention("api:acme:k", "acme", None, ("k",))]


@pytest.mark.parametrize("body", [b"", b"\xff", b"{", b"[" * 100_000])
def test_what_is_not_json_speaks_of_nothing(body: bytes) -> None:
    assert list(mentions(body)) == []


@pytest.mark.parametrize(
    ("wanted", "keys", "is_meant"),
    [
        (Wanted("txn:meals:T-1"), ["txn:meals:T-1"], True),
        (Wanted("txn:meals:T-2"), ["txn:meals:T-2"], False),
        (Wanted("T-1"), [], True),
        (Wanted("T-2"), [], False),
        (Wanted("T-1", "meals"), ["txn:meals:T-1", "refund:meals:T-1"], True),
        (Wanted("T-1", "rides"), ["txn:rides:T-1", "refund:rides:T-1"], False),
    ],
)
def test_what_is_wanted(wanted: Wanted, keys: list[str], is_meant: bool) -> None:  # noqa: FBT001  # a table's column
    assert (wanted.keys, wanted.is_meant_by(OF_MEAL)) == (keys, is_meant)


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("redemption:018f-7", "redemption:018f-7"),
        ("journey:come_back:1:bob:4", "1:bob:4"),
        ("exchange:acme:018f-7", "018f-7"),
        ("ops:018f-7", "ops:018f-7"),
    ],
)
def test_what_moves_points_otherwise_is_looked_for_under_its_key(key: str, word: str) -> None:
    assert (Wanted(key).keys, Wanted(key).word) == ([key], word)
