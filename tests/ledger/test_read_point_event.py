"""Point events as followers read them: published events can be read, and unreadable ones are reported."""

import json
import re
from typing import Any

import pytest
from hypothesis import given

from abacus.core.errors import Unreadable
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.point_event import TYPES, encode_event
from abacus.ledger.types.read_point_event import PointEventReader, read_explanation, read_point_event, type_of
from tests.support.awards import AWARD, NOW, awards

EARNED = TYPES[TransferKind.EARN]


def encoded(each: Award = AWARD) -> bytes:
    return encode_event(apply(Account.opened((each.member_id, each.program), each.country), each, NOW)[1])


def changed(type_: str = EARNED, more: dict[str, Any] | None = None, **data: Any) -> bytes:
    event = json.loads(encoded())
    return json.dumps({**event, "type": type_, **(more or {}), "data": {**event["data"], **data}}).encode()


def without(*path: str) -> bytes:
    event = json.loads(encoded())
    holder = event
    for name in path[:-1]:
        holder = holder[name]
    del holder[path[-1]]
    return json.dumps(event).encode()


@given(awards)
def test_every_transfer_is_read_as_it_was_told(each: Award) -> None:
    transfer = apply(Account.opened((each.member_id, each.program), each.country), each, NOW)[1]
    event = encode_event(transfer)
    read = read_point_event(event)
    assert read["data"] == {
        "member_id": transfer.member_id,
        "program": transfer.program,
        "seq": transfer.seq,
        "key": transfer.key,
        "kind": transfer.kind,
        "points": transfer.points,
        "balance": transfer.balance_after,
        "country": transfer.country,
        "occurred_at": transfer.occurred_at,
        "expires_on": transfer.expires_on,
        "lifetime": transfer.lifetime,
        "vests_on": transfer.vests_on,
        "source": transfer.known_source,
    }
    assert (read["type"], read["time"]) == (TYPES[each.kind], transfer.posted_at)
    assert read["id"] == f"{transfer.member_id}:{transfer.program}:{transfer.seq}"
    assert read_explanation(event) == json.loads(transfer.explanation)
    assert type_of(event) == TYPES[each.kind]


@pytest.mark.parametrize(
    ("event", "is_read"),
    [
        (changed(), True),
        (changed(more={"later": "field"}, later="field"), True),
        (changed(kind="invented"), True),
        (changed(expires_on=None), True),
        (changed().replace(b"points.earned", b"points.\\u0065arned"), True),
        (changed(TYPES[TransferKind.SPEND]), False),
        (changed(TYPES[TransferKind.SPEND], key=EARNED), False),
        (changed("abacus.points.invented.v9", member_id=7), False),
        (changed("abacus.points.invented.v9", key=EARNED, member_id=7), False),
        (b'{"type": "abacus.ledger.sealed.v1"}', False),
    ],
)
def test_a_reader_of_some_kinds_passes_over_other_types(event: bytes, is_read: bool) -> None:  # noqa: FBT001  # a case
    assert (PointEventReader(TransferKind.EARN, TransferKind.EXPIRE)(event) is not None) == is_read


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (b"", "Invalid JSON"),
        (b"no json", "Invalid JSON"),
        (b"\xff", "Invalid JSON"),
        (b"[" * 60_000, "Invalid JSON"),
        (b"[]", "Input should be an object"),
        (b"{}", "type: Field required"),
        (b'{"type": []}', "type: Input should be a valid string"),
        (without("type"), "type: Field required"),
        (without("id"), "id: Field required"),
        (without("data"), "data: Field required"),
        (without("data", "balance"), "data.balance: Field required"),
        (changed(more={"id": "x" * 500}), "id: "),
        (changed(more={"time": "2026-01-10T12:30:00"}), "time: "),
        (changed(more={"time": "yesterday"}), "time: "),
        (changed(more={"time": 1767225600}), "time: "),
        (changed(member_id="b\x1fob"), "data.member_id: "),
        (changed(member_id=7), "data.member_id: "),
        (changed(program="grp"), "data.program: "),
        (changed(seq=0), "data.seq: "),
        (changed(seq=2**63), "data.seq: "),
        (changed(key=None), "data.key: "),
        (changed(points=1.5), "data.points: "),
        (changed(points="60"), "data.points: "),
        (changed(points=2**63), "data.points: "),
        (changed(balance=None), "data.balance: "),
        (changed(country="Singapore"), "data.country: "),
        (changed(occurred_at="2026-01-10T12:30:00"), "data.occurred_at: "),
        (changed(occurred_at="1026-01-10T12:30:00Z"), "data.occurred_at: "),
        (changed(expires_on="soon"), "data.expires_on: "),
        (changed(expires_on="9999-12-31"), "data.expires_on: "),
    ],
)
def test_what_cannot_be_read_says_why(event: bytes, why: str) -> None:
    for read in (read_point_event, PointEventReader(TransferKind.EARN)):
        with pytest.raises(Unreadable) as fault:
            read(event)
        assert f"not a point event: {why}" in str(fault.value)


def test_a_value_is_shown_unless_it_may_not_be() -> None:
    event = changed(member_id="b\x1fob")
    with pytest.raises(Unreadable, match=re.escape(repr("b\x1fob"))):
        PointEventReader(TransferKind.EARN)(event)
    with pytest.raises(Unreadable) as fault:
        PointEventReader(TransferKind.EARN, values_shown=False)(event)
    assert "ob" not in str(fault.value).replace("object", "")


@pytest.mark.parametrize("event", [b"", b"{}", without("data", "explanation"), changed(explanation=[])])
def test_an_explanation_that_is_none_is_said(event: bytes) -> None:
    with pytest.raises(Unreadable, match="not a point event"):
        read_explanation(event)


@pytest.mark.parametrize("event", [b"", b"[]", b"{}", b'{"type": 7}'])
def test_an_event_that_has_no_type(event: bytes) -> None:
    assert type_of(event) is None
