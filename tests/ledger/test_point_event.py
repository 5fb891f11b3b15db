"""The point event: a transfer as others read it."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings

from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.point_event import TYPES, PointEvent, encode_event
from abacus.ledger.types.transfer import Transfer
from tests.support.awards import AWARD, NOW, award, awards


def transfer_of(each: Award, last_seq: int = 0) -> Transfer:
    account = Account.opened((each.member_id, each.program), each.country)
    return apply(account._replace(balance=1000, last_seq=last_seq), each, NOW)[1]


def test_an_event_as_other_programs_see_it() -> None:
    assert json.loads(encode_event(transfer_of(AWARD, last_seq=41))) == {
        "specversion": "1.0",
        "id": "bob:GRP:42",
        "source": "abacus/ledger",
        "type": "abacus.points.earned.v1",
        "subject": "bob",
        "time": "2026-06-01T12:00:00+00:00",
        "datacontenttype": "application/json",
        "data": {
            "member_id": "bob",
            "program": "GRP",
            "seq": 42,
            "key": "txn:rides:T-1001",
            "kind": "earn",
            "points": 180,
            "balance": 1180,
            "country": "SG",
            "occurred_at": "2026-01-10T12:30:00+08:00",
            "expires_on": "2026-07-31",
            "lifetime": False,
            "vests_on": None,
            "source": "stream",
            "explanation": {"amount": "15.00", "points": 180},
        },
    }


@given(awards)
@settings(deadline=None)
def test_every_transfer_makes_an_event_that_readers_accept(each: Award) -> None:
    transfer = transfer_of(each)
    encoded = encode_event(transfer)
    event = PointEvent.model_validate_json(encoded)
    assert event.id == f"{each.member_id}:{each.program}:1"
    assert (event.subject, event.time, event.type) == (each.member_id, NOW, TYPES[each.kind])
    assert (event.data.points, event.data.balance, event.data.seq) == (each.points, 1000 + each.points, 1)
    assert (event.data.occurred_at, event.data.expires_on) == (each.occurred_at, each.expires_on)
    assert (event.data.key, event.data.kind, event.data.country) == (each.key, each.kind, each.country)
    assert each.explanation in encoded, "as it is stored, to the letter"


@pytest.mark.parametrize("kind", TransferKind)
def test_every_kind_has_its_type(kind: TransferKind) -> None:
    event = json.loads(encode_event(transfer_of(AWARD)._replace(kind=kind)))
    assert (event["type"], event["data"]["kind"]) == (TYPES[kind], kind.value)


def test_a_transfer_read_back_from_the_ledger_makes_the_same_event() -> None:
    """Postgres gives the kind as text and the times in UTC; consumers de-duplicate by `id` and must see one event."""
    first = transfer_of(award(occurred_at=datetime(2026, 1, 10, tzinfo=UTC)))
    again = first._replace(kind="earn")  # type: ignore[arg-type]  # as Postgres gives it
    assert encode_event(again) == encode_event(first)


def test_an_account_without_a_date_makes_an_event() -> None:
    event = PointEvent.model_validate_json(encode_event(transfer_of(AWARD)._replace(expires_on=None)))
    assert event.data.expires_on is None
