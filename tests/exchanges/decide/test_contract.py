"""What a partner's answer says of the points: what the contract does not allow says nothing."""

from datetime import UTC, date, datetime
from typing import Any, Final
from uuid import UUID, uuid4

import orjson
import pytest

from abacus.core.errors import Refused
from abacus.exchanges.decide.contract import (
    JSON,
    PROBLEM,
    REFUSALS,
    Answer,
    NotOfContract,
    Told,
    heard_to_cancel,
    heard_to_get,
    heard_to_put,
    heard_to_reverse,
    match_in,
    recalled_in,
    statement_in,
    told_by,
)
from abacus.exchanges.decide.heard import (
    Cancelled,
    Credited,
    Heard,
    NotKnown,
    NotTakenBack,
    OtherFacts,
    Pending,
    Rejected,
    Silence,
    TakenBack,
)
from abacus.exchanges.types import Match, Recalled

ID: Final = UUID("0b9e0b1c-6f0e-4a55-9d0e-000000000001")
NOW: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)
ASK: Final = {"put": heard_to_put, "get": heard_to_get, "cancel": heard_to_cancel, "reverse": heard_to_reverse}


def json(status: int, **document: Any) -> Answer:
    return Answer(status, JSON, orjson.dumps({"id": str(ID), **document}))


def problem(status: int, kind: str, **document: Any) -> Answer:
    return Answer(status, PROBLEM, orjson.dumps({"id": str(ID), "type": kind, "status": status, **document}))


CREDITED: Final = {"state": "credited", "amount": 500, "reference": "R1"}

SAID = [
    ("put", json(200, **CREDITED), Credited(500, "R1")),
    ("put", json(200, state="credited", amount=500), Credited(500)),
    ("put", json(200, state="reversed", amount=500), TakenBack()),
    ("put", json(202, state="pending"), Pending()),
    ("put", problem(422, "account-closed", detail="it is\nclosed"), Rejected("account-closed", "it is closed")),
    ("put", problem(422, "cancelled"), Cancelled()),
    ("put", problem(409, "other-facts", detail="500, then 3"), OtherFacts("500, then 3")),
    ("put", Answer(409, "text/html", b"<p>"), OtherFacts()),
    ("get", json(200, **CREDITED), Credited(500, "R1")),
    ("get", json(200, state="pending"), Pending()),
    ("get", json(200, state="rejected", type="cap-reached"), Rejected("cap-reached")),
    ("get", json(200, state="cancelled"), Cancelled()),
    ("get", json(200, state="reversed", amount=500), TakenBack()),
    ("get", problem(404, "unknown-id"), NotKnown()),
    ("cancel", json(200, state="cancelled"), Cancelled()),
    ("cancel", json(200, **CREDITED), Credited(500, "R1")),
    ("cancel", json(200, state="rejected", type="cap-reached"), Rejected("cap-reached")),
    ("cancel", json(202, state="pending"), Pending()),
    ("reverse", json(200, state="reversed", amount=500), TakenBack()),
    ("reverse", json(202, state="pending"), Pending()),
    ("reverse", problem(422, "not-reversible", detail="it is spent"), NotTakenBack("it is spent")),
    ("reverse", problem(404, "unknown-id"), NotKnown()),
]


@pytest.mark.parametrize(("question", "answer", "heard"), SAID)
def test_what_the_contract_has(question: str, answer: Answer, heard: Heard) -> None:
    assert ASK[question](ID, answer, NOW) == heard


SAYS_NOTHING = [
    ("put", json(201, **CREDITED)),
    ("put", json(200, state="pending")),
    ("put", json(202, **CREDITED)),
    ("put", json(200, **{**CREDITED, "id": str(uuid4())})),  # of another transfer
    ("put", json(200, **{**CREDITED, "amount": 0})),
    ("put", json(200, **{**CREDITED, "amount": "500"})),
    ("put", json(200, **{**CREDITED, "amount": True})),
    ("put", json(200, **{**CREDITED, "amount": 500.0})),
    ("put", json(200, **{**CREDITED, "amount": 2**63})),
    ("put", json(200, **{**CREDITED, "reference": "x" * 101})),
    ("put", json(200, state="credited")),
    ("put", Answer(200, "text/html", orjson.dumps({"id": str(ID), **CREDITED}))),
    ("put", Answer(200, JSON, b"[]")),
    ("put", Answer(200, JSON, b"{")),
    ("put", Answer(200, JSON, b"[" * 100_000)),
    ("put", Answer(200, JSON, b"")),
    ("put", Answer(204, "", b"")),
    ("put", Answer(302, "", b"")),
    ("put", problem(422, "invalid")),
    ("put", problem(422, "account-closed", id=str(uuid4()))),  # a refusal of another transfer
    ("put", Answer(422, JSON, orjson.dumps({"id": str(ID), "type": "account-closed"}))),
    ("put", problem(400, "account-closed")),
    ("put", problem(404, "unknown-id")),
    *[("put", problem(status, "about:blank")) for status in (400, 401, 403, 405, 410, 413, 429, 500, 502, 503, 504)],
    ("get", Answer(404, "text/html", b"not found")),  # perhaps of another server
    ("get", problem(404, "not-found")),
    ("get", problem(422, "account-closed")),
    ("get", json(200, state="rejected", type="no reason")),
    ("get", json(200, state="gone")),
    ("cancel", problem(404, "unknown-id")),
    ("cancel", problem(422, "cancelled")),
    ("cancel", json(202, state="cancelled")),
    ("reverse", json(200, **CREDITED)),
    ("reverse", problem(422, "not-reversible", id=str(uuid4()))),
]


@pytest.mark.parametrize(("question", "answer"), SAYS_NOTHING)
def test_what_it_does_not_have_says_nothing_of_the_points(question: str, answer: Answer) -> None:
    assert isinstance(ASK[question](ID, answer, NOW), Silence)


def test_a_partner_may_ask_to_be_left_alone() -> None:
    answer = problem(429, "about:blank", detail="slow down")._replace(retry_after="30")
    assert heard_to_put(ID, answer, NOW) == Silence("answered 429 about:blank: slow down", 30)


def test_what_is_kept_of_an_answer_is_what_it_has_for_people() -> None:
    answer = Answer(500, "text/html", b"no such account 12345678")
    assert heard_to_put(ID, answer, NOW) == Silence("answered 500")


def callback(kind: str, **data: Any) -> bytes:
    return orjson.dumps({"type": kind, "timestamp": NOW, "data": {"id": str(ID), **data}})


def test_a_callback_says_what_an_answer_says() -> None:
    assert told_by(callback("transfer.credited", **CREDITED)) == Told(ID, Credited(500, "R1"))
    assert told_by(callback("transfer.rejected", state="rejected", type="not-eligible")).heard == Rejected(
        "not-eligible"
    )
    assert told_by(callback("transfer.cancelled", state="cancelled")).heard == Cancelled()
    assert told_by(callback("transfer.reversed", state="reversed", amount=500)).heard == TakenBack()


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"no",
        callback("transfer.credited", state="rejected", type="not-eligible"),
        callback("transfer.credited", state="credited"),
        callback("transfer.pending", state="pending"),
        callback("transfer.credited", **{**CREDITED, "id": "1"}),
        callback("points.granted", **CREDITED),
    ],
)
def test_what_is_no_callback(body: bytes) -> None:
    with pytest.raises(NotOfContract):
        told_by(body)


def test_what_is_said_of_an_account() -> None:
    assert match_in(json(200, match="near")) is Match.NEAR
    for answer in (json(200, match="perhaps"), json(200, match=["near"]), json(202, match="near")):
        with pytest.raises(NotOfContract):
            match_in(answer)


DAY: Final = date(2026, 11, 28)
LINES: Final = [
    {"id": str(ID), "state": "credited", "amount": 500, "at": "2026-11-28T12:00:00Z", "reference": "R1"},
    {"id": str(ID), "state": "reversed", "amount": 500, "at": "2026-11-28T13:00:00Z"},
    {"id": str(uuid4()), "state": "rejected", "amount": 0, "at": "2026-11-28T13:00:00+08:00"},
]
SUMS: Final = {"credited": 500, "rejected": 0, "cancelled": 0, "reversed": 500}


def stated(**changed: Any) -> Answer:
    document = {"date": str(DAY), "complete": True, "count": 3, "sums": SUMS, "lines": LINES, **changed}
    return Answer(200, JSON, orjson.dumps(document))


def test_a_statement() -> None:
    statement = statement_in(stated(), DAY)
    assert statement.complete
    assert [each.amount for each in statement.lines] == [500, 500, 0]


@pytest.mark.parametrize("changed", [{"count": 2}, {"sums": {**SUMS, "credited": 501}}, {"lines": LINES[:2]}])
def test_a_statement_with_sums_that_are_not_those_of_its_lines_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="the statement of 2026-11-28"):
        statement_in(stated(**changed), DAY)


@pytest.mark.parametrize(
    "changed",
    [
        {"date": "2026-11-27"},
        {"complete": "yes"},
        {"lines": {}},
        {"lines": [{**LINES[0], "at": "2026-11-28T12:00:00"}], "count": 1},
        {"lines": [{**LINES[0], "state": ["credited"]}], "count": 1},
        {"lines": [7], "count": 1},
        {"lines": [{**LINES[0], "id": ""}], "count": 1},
        {"lines": [{**LINES[0], "id": "a\0b"}], "count": 1},
        {"lines": [{**LINES[0], "id": "x" * 101}], "count": 1},
        {"lines": [{**LINES[0], "at": "0001-01-01T00:00:00+14:00"}], "count": 1},
        {"lines": [{**LINES[0], "at": "9999-12-31T23:59:59-14:00"}], "count": 1},
        {"lines": [{**LINES[0], "amount": 2**63}], "count": 1, "sums": {**SUMS, "credited": 2**63, "reversed": 0}},
        {"lines": [{**LINES[0], "amount": 2**63 - 1}] * 2, "count": 2, "sums": {**SUMS, "reversed": 0}},
    ],
)
def test_what_is_no_statement(changed: dict[str, Any]) -> None:
    with pytest.raises(NotOfContract):
        statement_in(stated(**changed), DAY)


ASKED: Final = {"account": {"number": "4711"}, "points": 1250, "programme": "skymiles@3"}


def test_what_a_transfer_was_asked_for_by() -> None:
    assert recalled_in(json(200, **CREDITED, asked=ASKED), ID) == Recalled("4711", 500, 1250, "skymiles@3", "R1")


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"asked": {**ASKED, "account": None}},
        {"asked": {**ASKED, "account": {"number": 4711}}},
        {"asked": {**ASKED, "account": {"number": "47\0"}}},
        {"asked": {**ASKED, "account": {"number": "4" * 101}}},
        {"asked": {**ASKED, "programme": "x" * 101}},
        *[{"asked": {**ASKED, "points": points}} for points in (0, -500, 2**63, 1.0, True, "1")],
        {"asked": ASKED, "amount": 2**63},
        {"asked": ASKED, "state": "pending"},
        {"asked": ASKED, "state": "gone"},
    ],
)
def test_a_transfer_of_which_it_is_not_said_is_not_recalled(said: dict[str, Any]) -> None:
    assert recalled_in(json(200, **{**CREDITED, **said}), ID) is None


def test_an_answer_of_another_transfer_recalls_nothing() -> None:
    with pytest.raises(NotOfContract):
        recalled_in(json(200, **CREDITED, asked=ASKED), uuid4())


def test_what_is_kept_of_words_has_nothing_that_cannot_be_stored() -> None:
    assert heard_to_put(ID, problem(422, "account-closed", detail="why\0y"), NOW) == Rejected("account-closed", "why y")


def test_the_list_of_refusals_is_that_of_the_contract() -> None:
    assert REFUSALS == (
        "account-closed",
        "account-unknown",
        "name-mismatch",
        "cap-reached",
        "not-eligible",
        "amount-not-allowed",
    )
