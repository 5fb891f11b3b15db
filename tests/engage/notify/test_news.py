"""The news that events are to members, and the news that becomes one message."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Unreadable
from abacus.engage.notify.decide.message import ChannelName, OutgoingMessage, Words, document, message_of, preview
from abacus.engage.notify.decide.news import (
    NEWS_LIST_JSON,
    SAMPLES,
    WITH_TEMPLATES,
    Earned,
    Expired,
    Expiring,
    NewsKind,
    Portion,
    TierChanged,
    fields_of,
    merged,
)
from abacus.engage.notify.decide.notice import Notice, heard
from abacus.ledger.decide.account_with_lots import AccountWithLots
from abacus.ledger.decide.lapse import MonthEnd, lapse
from abacus.ledger.types.account import Account
from abacus.ledger.types.kinds import TransferKind as LedgerKind
from abacus.ledger.types.point_event import encode_event
from abacus.ledger.types.transfer import Transfer
from abacus.programs.tiers.decide.events import encode_tier_changed
from abacus.programs.tiers.decide.tier_change import Change, Reason

AT = datetime(2026, 7, 1, 12, tzinfo=UTC)
DAY = date(2026, 12, 31)
SOONER = date(2026, 11, 30)


def points_event(type_: str = "abacus.points.earned.v1", **changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"member_id": "bob", "program": "GRP", "country": "SG", "seq": 3, "points": 60}
    data |= {"balance": 240, "kind": "earn", "occurred_at": "2026-05-22T12:00:00+00:00"}
    data |= {"expires_on": "2026-12-31", "key": "txn:rides:T-1", "explanation": {}, "surprise": 1}
    data |= {"lifetime": False}
    event = {"id": "bob:GRP:3", "type": type_, "time": "2026-07-01T12:00:00+00:00", "more": True}
    return event | {"data": data | changes}


def tier_event(**changes: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"member_id": "bob", "program": "GRP", "country": "SG", "from": "member", "to": "silver"}
    data |= {
        "reason": "upgrade",
        "earned": 300,
        "until": "2026-12-31",
        "at": "2026-07-01T12:00:00+00:00",
        "period": "x",
    }
    event = {"id": "bob:GRP:tier:7", "type": "abacus.tier.changed.v1", "time": "2026-07-01T20:00:00+08:00"}
    return event | {"data": data | changes}


EARNED = Earned(program="GRP", country="SG", points=60, count=1, balance=240, expires_on=DAY)
EARNED_BY_LOTS = EARNED.model_copy(
    update={"expires_on": None, "lots": (Portion(points=60, expires_on=DAY),), "lifetime": True}
)
EXPIRED = Expired(program="GRP", country="SG", points=60, count=1, balance=240)
SILVER = TierChanged(
    program="GRP", country="SG", from_tier="member", to_tier="silver", reason="upgrade", earned=300, until=DAY
)


@pytest.mark.parametrize(
    ("event", "outcome"),
    [
        (points_event(), Notice("bob", "bob:GRP:3", AT, 3, EARNED)),
        (points_event("abacus.points.expired.v1", points=-60), Notice("bob", "bob:GRP:3", AT, 3, EXPIRED)),
        (points_event(lifetime=True), Notice("bob", "bob:GRP:3", AT, 3, EARNED_BY_LOTS)),
        (
            points_event(lifetime=None),
            Notice("bob", "bob:GRP:3", AT, 3, EARNED.model_copy(update={"expires_on": None})),
        ),
        (
            points_event("abacus.points.expired.v1", points=-60, lifetime=True),
            Notice("bob", "bob:GRP:3", AT, 3, EXPIRED.model_copy(update={"lifetime": True})),
        ),
        (tier_event(), Notice("bob", "bob:GRP:tier:7", AT, 7, SILVER)),
        (tier_event() | {"id": "odd"}, Notice("bob", "odd", AT, 0, SILVER)),
        (points_event(points=0), None),
        (points_event("abacus.points.expired.v1", points=0), None),
        (tier_event(to="member"), None),
        (points_event("abacus.points.reversed.v1"), None),
        (points_event("abacus.points.held.v1", points="?"), None),
    ],
)
def test_what_an_event_says(event: dict[str, Any], outcome: Notice | None) -> None:
    assert heard(orjson.dumps(event)) == outcome


def test_what_the_relay_publishes_is_heard() -> None:
    fields: dict[str, Any] = dict.fromkeys(Transfer._fields)
    fields |= {"member_id": "bob", "program": "GRP", "seq": 3, "kind": LedgerKind.EARN, "points": 60}
    fields |= {"balance_after": 240, "key": "txn:rides:T-1", "country": "SG", "expires_on": DAY}
    fields |= {"occurred_at": AT - timedelta(days=40), "posted_at": AT, "explanation": b"{}", "lifetime": False}
    transfer = Transfer(**fields)
    assert heard(encode_event(transfer)) == Notice("bob", "bob:GRP:3", AT, 3, EARNED)
    by_lots = Notice("bob", "bob:GRP:3", AT, 3, EARNED_BY_LOTS)
    assert heard(encode_event(transfer._replace(lifetime=True))) == by_lots


def test_what_the_expirer_posts_is_heard() -> None:
    account = Account("bob", "GRP", "SG", 60, 0, 60, date(2026, 5, 31), 2, b"")
    lapsed = lapse(AccountWithLots(account), MonthEnd("expiry:2026-05", date(2026, 5, 31), AT - timedelta(days=30)), AT)
    assert lapsed is not None
    news = Expired(program="GRP", country="SG", points=60, count=1, balance=0)
    assert heard(encode_event(lapsed.transfer)) == Notice("bob", "bob:GRP:3", AT, 3, news)


@pytest.mark.parametrize("country", ["SG", None])
def test_what_the_tier_keeper_publishes_is_heard(country: str | None) -> None:
    """An operator may set a tier before the member has earned anything anywhere."""
    change = Change(
        *("bob", "GRP", 7, country, "member", "silver", Reason.OVERRIDE, "ops", "a friend"),
        *(None, None, None, None, AT),
    )
    news = SILVER.model_copy(update={"country": country, "reason": "override", "earned": None, "until": None})
    assert heard(encode_tier_changed(change)) == Notice("bob", "bob:GRP:tier:7", AT, 7, news)


@pytest.mark.parametrize(
    "event",
    [
        b"",
        b"no json",
        b"[]",
        b"{}",
        b'"text"',
        b'{"type": []}',
        b'{"type": "abacus.points.earned.v1"}',
        orjson.dumps(points_event(member_id="b\x00b")),
        orjson.dumps(points_event(member_id=7)),
        orjson.dumps(points_event(program="grp")),
        orjson.dumps(points_event(points="60")),
        orjson.dumps(points_event(points=1.5)),
        orjson.dumps(points_event(balance=None)),
        orjson.dumps(points_event(seq=0)),
        orjson.dumps(points_event(expires_on="soon")),
        orjson.dumps(points_event() | {"time": "2026-07-01T12:00:00"}),
        orjson.dumps(points_event() | {"id": "x" * 500}),
        orjson.dumps(points_event() | {"id": "b\x00b"}),
        orjson.dumps(tier_event(to=None)),
        orjson.dumps(tier_event(until="31 July")),
        b'{"type": "abacus.points.earned.v1", "data": {"points": 1' + b"0" * 40 + b"}}",
    ],
)
def test_what_is_no_event_is_said_so_without_repeating_it(event: bytes) -> None:
    with pytest.raises(Unreadable) as unreadable:
        heard(event)
    assert "bob" not in str(unreadable.value)


def earned(seq: int, points: int, program: str = "GRP") -> Notice:
    news = Earned(program=program, country="SG", points=points, count=1, balance=100 + seq, expires_on=DAY)
    return Notice("bob", f"bob:{program}:{seq}", AT, seq, news)


def tier(number: int, from_: str, to: str) -> Notice:
    news = SILVER.model_copy(update={"from_tier": from_, "to_tier": to})
    return Notice("bob", f"bob:GRP:tier:{number}", AT, number, news)


def test_one_message_of_all_there_is_with_what_matters_most_first() -> None:
    soon = Notice("bob", "e", AT, 0, Expiring(program="GRP", country="SG", points=5, expires_on=DAY, days=7))
    gone = Notice("bob", "x", AT, 9, EXPIRED)
    message = message_of(
        [
            earned(2, 20),
            gone,
            earned(1, 10),
            tier(2, "silver", "gold"),
            earned(1, 7, "OVO"),
            soon,
            tier(1, "member", "silver"),
        ]
    )
    assert [(each.kind, each.program) for each in message.news] == [
        (NewsKind.TIER_CHANGED, "GRP"),
        (NewsKind.EXPIRING, "GRP"),
        (NewsKind.EXPIRED, "GRP"),
        (NewsKind.EARNED, "GRP"),
        (NewsKind.EARNED, "OVO"),
    ]
    up, *_, grp, ovo = message.news
    assert isinstance(up, TierChanged)
    assert (up.from_tier, up.to_tier) == ("member", "gold")
    assert grp == Earned(program="GRP", country="SG", points=30, count=2, balance=102, expires_on=DAY)
    assert ovo == Earned(program="OVO", country="SG", points=7, count=1, balance=101, expires_on=DAY)


@given(order=st.permutations(range(1, 9)), points=st.lists(st.integers(1, 10**15), min_size=8, max_size=8))
def test_the_order_in_which_notices_are_found_makes_no_difference(order: list[int], points: list[int]) -> None:
    message = message_of(earned(seq, points[seq - 1]) for seq in order)
    assert message == message_of(earned(seq, points[seq - 1]) for seq in range(1, 9))
    (news,) = message.news
    assert news == Earned(program="GRP", country="SG", points=sum(points), count=8, balance=108, expires_on=DAY)


def test_other_notices_are_another_message() -> None:
    ids = {message_of(each).message_id for each in ([earned(1, 1)], [earned(2, 1)], [earned(1, 1), earned(2, 1)])}
    assert len(ids) == 3


def test_what_is_stored_is_read_back() -> None:
    news = [each for samples in SAMPLES.values() for each in samples]
    assert NEWS_LIST_JSON.validate_json(NEWS_LIST_JSON.dump_json(news)) == news


def test_lots_that_came_together_are_told_by_their_days() -> None:
    news = [
        EARNED_BY_LOTS.model_copy(update={"lots": (Portion(points=points, expires_on=day),), "points": points})
        for points, day in ((40, DAY), (10, SOONER), (5, DAY))
    ]
    (together,) = merged(news)
    assert isinstance(together, Earned)
    assert (together.points, together.count, together.expires_on) == (55, 3, None)
    assert together.lots == (Portion(points=10, expires_on=SOONER), Portion(points=45, expires_on=DAY))


def test_lots_that_expire_on_different_days_are_told_apart() -> None:
    of_activity = [Expiring(program="GRP", country="SG", points=5, expires_on=day, days=7) for day in (SOONER, DAY)]
    assert merged(of_activity) == of_activity[1:], "activity moved the date"
    of_lots = [each.model_copy(update={"lifetime": True}) for each in of_activity]
    assert merged(of_lots) == of_lots


def test_the_document() -> None:
    outgoing = OutgoingMessage("bob", "ntf_1", "en", Words("Title", "Text"), [EARNED], AT)
    assert orjson.loads(document(outgoing)) == {
        "type": "member.notification",
        "id": "ntf_1",
        "member_id": "bob",
        "locale": "en",
        "title": "Title",
        "text": "Text",
        "created_at": "2026-07-01T12:00:00Z",
        "about": [
            {"kind": "earned", "program": "GRP", "country": "SG", "points": 60, "count": 1, "balance": 240,
             "expires_on": "2026-12-31", "lots": [], "lifetime": False}
        ],
    }  # fmt: skip
    assert preview(ChannelName.LOG, outgoing) == "Title\nText"
    assert preview(ChannelName.SNS, outgoing).encode() == document(outgoing)


def test_every_kind_has_samples_of_its_own_and_fields() -> None:
    for kind in WITH_TEMPLATES:
        assert {sample.kind for sample in SAMPLES[kind]} == {kind}
        assert {"program", "country"} < fields_of(kind)
