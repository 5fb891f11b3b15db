"""What programmes are in the sandbox, and what a partner says there that is only played."""

from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from abacus.core.fields import EARLIEST
from abacus.exchanges.decide.heard import Credited, NotTakenBack, Pending, Rejected, Silence, TakenBack
from abacus.exchanges.decide.position import can_hold
from abacus.exchanges.decide.programme import Caps, Direction, SignIn
from abacus.exchanges.decide.rehearsed import (
    DECIDES_AFTER,
    SENDS_AFTER,
    is_kept_back,
    match_of,
    rehearsed,
    said_at_once,
    said_later,
    said_of_undoing,
)
from abacus.exchanges.types import Match
from tests.support.exchanged import NOW, exchange, skymiles

ID = UUID("3f6b1c9e-6a0b-4b1f-9a53-0d5d7f0c7a05")
SIGN_IN = SignIn("https://a/", "https://b/", "https://c/", "abacus", ("https://app/",))
CREDITED = Credited(400, "TEST-3F6B1C9E6A0B")


def test_a_programme_holds_at_once_and_without_money_and_keeps_the_limits_of_a_member() -> None:
    caps = {Direction.OUT: Caps(member_day=5000, member_month=9000, day=10_000, ever=20_000)}
    live = skymiles(cooling_off=timedelta(days=1), caps=caps, review_above=500, sign_in=SIGN_IN)
    there = rehearsed(live)
    assert there.sign_in is None
    assert (there.starts_at, there.cooling_off) == (EARLIEST, timedelta(0))
    assert there.caps == {Direction.OUT: Caps(member_day=5000, member_month=9000)}
    assert can_hold(there.money, Decimal(-(10**30)), Decimal(10**30))
    assert (there.directions, there.review_above, there.label) == (live.directions, 500, live.label)


@pytest.mark.parametrize(
    ("number", "match", "at_once", "later"),
    [
        ("SKY 1234 5678", Match.MATCH, CREDITED, CREDITED),
        ("000000001", Match.CLOSED, "account-closed", "account-closed"),
        ("00-000 00 02 77", Match.NONE, "account-unknown", "account-unknown"),
        ("0000000031", Match.NEAR, CREDITED, CREDITED),
        ("000000004-x", Match.NONE, "name-mismatch", "name-mismatch"),
        ("000000005-bob", Match.MATCH, "cap-reached", "cap-reached"),
        ("000000006-bob", Match.MATCH, "not-eligible", "not-eligible"),
        ("000000007-bob", Match.MATCH, Pending, CREDITED),
        ("000000008-bob", Match.MATCH, Silence, CREDITED),
        ("000000009-bob", Match.MATCH, CREDITED, CREDITED),
        ("00000001", Match.MATCH, CREDITED, CREDITED),
    ],
)
def test_an_account_is_another_one_by_the_beginning_of_its_number(
    number: str, match: Match, at_once: object, later: object
) -> None:
    assert match_of(number) is match
    said = [said_at_once(number, ID, 400), said_later(number, ID, 400, DECIDES_AFTER)]
    for each, expected in zip(said, (at_once, later), strict=True):
        told = each.type if isinstance(each, Rejected) else each
        assert expected in {told, type(told)}
    assert said_later(number, ID, 400, DECIDES_AFTER - timedelta(seconds=1)) == said[0]


def test_what_was_credited_is_taken_back_unless_its_account_keeps_it() -> None:
    assert isinstance(said_of_undoing("000000009-bob"), NotTakenBack)
    assert isinstance(said_of_undoing("000000008-bob"), TakenBack)


def test_a_member_by_its_name_has_time_to_cancel() -> None:
    held = exchange(member_id="held-bob", asked_at=NOW)
    assert is_kept_back(held, NOW + SENDS_AFTER - timedelta(seconds=1))
    assert not is_kept_back(held, NOW + SENDS_AFTER)
    assert not is_kept_back(exchange(asked_at=NOW), NOW)
