"""The events of the points stream that count for tiers, and the fault that is named in an unreadable one."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given

from abacus.core.errors import Unreadable
from abacus.ledger.decide.transfer import apply
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.point_event import encode_event
from abacus.programs.tiers.decide.heard import Heard, heard_in
from tests.support import explanations
from tests.support.awards import AWARD, NOW, awards


def encoded(each: Award = AWARD) -> bytes:
    return encode_event(apply(Account.opened((each.member_id, each.program), each.country), each, NOW)[1])


def changed(type_: str = "abacus.points.earned.v1", **data: Any) -> bytes:
    event = json.loads(encoded())
    return json.dumps({**event, "type": type_, "data": {**event["data"], **data}}).encode()


def taken_back(of_kind: str, points: int) -> bytes:
    """A reversal of an award of 180 points, some of which were gone; or a reversal of a spend."""
    explanation = json.loads(explanations.taken_back(of_kind, 180, NOW))
    return changed("abacus.points.reversed.v1", points=points, kind="reverse", explanation=explanation)


BOB = Heard("bob", "GRP", 1, 180, "SG", datetime(2026, 1, 10, 4, 30, tzinfo=UTC))


@pytest.mark.long
@given(awards)
def test_whatever_is_earned_is_heard(each: Award) -> None:
    heard = heard_in(encoded(each))
    if each.points == 0:
        assert heard is None
    else:
        assert heard is not None
        assert heard[:5] == (each.member_id, each.program, 1, each.points, each.country)
        assert heard.occurred_at == each.occurred_at


@pytest.mark.parametrize(
    ("event", "heard"),
    [
        (changed(), BOB),
        (changed("abacus.points.reversed.v1", points=-180, kind="reverse"), BOB._replace(points=-180)),
        (taken_back("earn", points=-30), BOB._replace(points=-180, occurred_at=NOW)),
        (taken_back("spend", points=30), None),
        (changed("abacus.points.expired.v1", points=-180, kind="expire"), None),
        (changed("abacus.points.spent.v1", points=-180), None),
        (changed("abacus.points.invented.v9", member_id=7), None),
        (changed(points=0), None),
        (changed(later="field"), BOB),
    ],
)
def test_what_counts(event: bytes, heard: Heard | None) -> None:
    assert heard_in(event) == heard


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (b"{", "not a point event"),
        (b"[]", "not a point event"),
        (b"{}", "not a point event: type: Field required"),
        (b'{"type": []}', "not a point event"),
        (
            b'{"type": "abacus.points.earned.v1", "data": 7}',
            "data: Input should be an object, not 7",
        ),
        (changed(points=1.5), "points"),
        (changed(points=10**15 + 1), "points"),
        (changed(seq=0), "seq"),
        (changed(member_id="b\x1fob"), "member_id"),
        (changed(program="grp"), "program"),
        (changed(country="Singapore"), "country"),
        (changed(occurred_at="2026-01-10T12:30:00"), "occurred_at"),
        (changed(occurred_at="1026-01-10T12:30:00Z"), "occurred_at"),
    ],
)
def test_what_cannot_be_read_says_why(event: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as refused:
        heard_in(event)
    assert why in str(refused.value)
