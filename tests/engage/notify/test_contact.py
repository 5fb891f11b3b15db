"""What becomes of the due notices of a member, case by case."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from abacus.core.local_clock import QuietHours
from abacus.engage.notify.decide.contact import Cause, Contact, DueNotice, contact, rest_of
from abacus.engage.notify.decide.contact_policy import Capped, MessageKind, is_held_out
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.news import ExchangeCode, JourneyTerms
from abacus.engage.notify.decide.notice import Notice
from tests.engage.notify.promoting import policies, promoted
from tests.engage.notify.telling import earned

NOON: Final = datetime(2026, 5, 4, 4, tzinfo=UTC)  # in Singapore, on a Monday
TODAY: Final = date(2026, 5, 4)
SNS, LOG = ChannelName.SNS, ChannelName.LOG
_MARKETING: Final = Capped(SNS, MessageKind.MARKETING)
_HELD_OUT: Final = next(f"m{number}" for number in range(1000) if is_held_out("SG", f"m{number}", 5))


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def decided(
    *notices: Any,
    told: Mapping[date, int] | None = None,
    zone: str | None = None,
    now: datetime = NOON,
    over: tuple[ChannelName, ...] = (SNS,),
    **policy: Any,
) -> Contact:
    before = {(_MARKETING, day): messages for day, messages in (told or {}).items()}
    due = [DueNotice(each, over) for each in notices]
    return contact(due, policies(**policy), before, None if zone is None else ZoneInfo(zone), now)


def numbers(found: Contact, channel: ChannelName = SNS) -> list[str]:
    return [each.event_id.split(":")[4] for each in found.told.get(channel, [])]


def test_the_highest_priority_is_told_and_the_others_wait_for_the_next_day() -> None:
    notices = [promoted("bob", number, NOON, priority=number % 3) for number in range(5)]
    found = decided(*notices, caps={"sns": {"marketing": "3 a day"}}, patience_days=1)
    assert numbers(found) == ["2", "1", "4"]
    assert [(each.notice.event_id[-5], each.until, each.cause) for each in found.put_off] == [
        ("0", _at("2026-05-05T00:00:00+08:00"), Cause.CAP),
        ("3", _at("2026-05-05T00:00:00+08:00"), Cause.CAP),
    ]
    assert found.counted == {(_MARKETING, TODAY): 3}


@pytest.mark.parametrize(
    ("cap", "told", "patience", "until"),
    [
        ("3 a day", {0: 2}, 0, None),
        ("3 a day", {0: 3}, 1, "2026-05-05T00:00:00+08:00"),
        ("3 a day", {-1: 3}, 0, None),
        ("9 a day, 10 a week", {0: 4, -6: 6}, 1, "2026-05-05T00:00:00+08:00"),  # the oldest leave the week
        ("9 a day, 10 a week", {0: 4, -3: 6}, 7, "2026-05-08T00:00:00+08:00"),
        ("10 a week", {0: 10}, 7, "2026-05-11T00:00:00+08:00"),
        ("10 a week", {0: 3, -7: 10}, 0, None),
        ("10 a week", {0: 10}, 6, "never"),  # no day has room in time
        ("3 a day", {0: 3}, 0, "never"),
    ],
)
def test_a_message_is_told_waits_or_is_never_told(
    cap: str, told: dict[int, int], patience: int, until: str | None
) -> None:
    before = {TODAY + timedelta(days=day): messages for day, messages in told.items()}
    found = decided(promoted("bob", 1, NOON), told=before, caps={"sns": {"marketing": cap}}, patience_days=patience)
    if until is None:
        assert numbers(found) == ["1"]
    elif until == "never":
        assert [(each.cause, each.why) for each in found.untold] == [(Cause.CAP, f"over the cap {cap} of SG@3")]
    else:
        assert [each.until for each in found.put_off] == [_at(until)]
    assert len(found.told.get(SNS, [])) + len(found.put_off) + len(found.untold) == 1


def test_a_cap_is_of_its_channel_and_its_kind() -> None:
    notices = [promoted("bob", 1, NOON), promoted("bob", 2, NOON), earned("bob", 1), earned("bob", 2)]
    found = decided(*notices, over=(LOG, SNS), caps={"sns": {"marketing": "1 a day", "earned": "1 a day"}})
    assert len(found.told[LOG]) == 4
    assert sorted(each.event_id for each in found.told[SNS]) == [
        "bob:GRP:1",
        "bob:GRP:2",  # news of one subject becomes one
        "campaign:autumn:app:opened:1:1/0",
    ]
    assert [(each.channel, each.notice.event_id) for each in found.untold] == [
        (SNS, "campaign:autumn:app:opened:2:1/0")
    ]


def test_days_are_those_of_the_members_zone() -> None:
    found = decided(
        promoted("bob", 1, NOON),
        told={TODAY: 3, date(2026, 5, 3): 3},
        zone="America/Lima",  # where it is the evening of the day before
        caps={"sns": {"marketing": "3 a day"}},
        patience_days=7,
    )
    assert [each.until for each in found.put_off] == [_at("2026-05-05T00:00:00-05:00")]


@pytest.mark.parametrize(
    ("zone", "until"),
    [(None, None), ("Europe/London", "2026-05-04T08:00:00+01:00"), ("Asia/Singapore", None)],
)
def test_quiet_hours_are_those_of_the_members_zone(zone: str | None, until: str | None) -> None:
    found = decided(promoted("bob", 1, NOON), earned("bob", 1), zone=zone, quiet_hours="21:00-08:00")
    assert [each.until for each in found.put_off] == ([_at(until)] * 2 if until else [])
    assert len(found.told.get(SNS, [])) == (0 if until else 2)


def test_what_waits_for_a_day_waits_for_the_end_of_its_quiet_hours() -> None:
    found = decided(
        promoted("bob", 1, NOON),
        told={TODAY: 3},
        quiet_hours="21:00-08:00",
        caps={"sns": {"marketing": "3 a day"}},
        patience_days=1,
    )
    assert [each.until for each in found.put_off] == [_at("2026-05-05T08:00:00+08:00")]


def test_nothing_is_promoted_to_the_holdout_and_it_is_told_of_its_points() -> None:
    found = decided(promoted(_HELD_OUT, 1, NOON), earned(_HELD_OUT, 1), over=(LOG, SNS), holdout=5)
    assert [(each.channel, each.cause, each.why) for each in found.untold] == [
        (LOG, Cause.HOLDOUT, "in the holdout of 5 % of SG@3"),
        (SNS, Cause.HOLDOUT, "in the holdout of 5 % of SG@3"),
    ]
    assert [each.event_id for each in found.told[SNS]] == [f"{_HELD_OUT}:GRP:1"]


def test_a_policy_is_of_its_country() -> None:
    found = decided(promoted("bob", 1, NOON, country="ID"), told={TODAY: 9}, caps={"sns": {"marketing": "1 a day"}})
    assert numbers(found) == ["1"]
    assert not found.counted


def _said(number: int, **terms: Any) -> Notice:
    return promoted("bob", number, NOON, journey=JourneyTerms(version=1, **terms))


def test_caps_count_marketing_of_campaigns_and_of_journeys_alike() -> None:
    notices = [promoted("bob", 1, NOON), _said(2), _said(3), _said(4, kind="service")]
    found = decided(*notices, caps={"sns": {"marketing": "2 a day"}})
    assert numbers(found) == ["1", "2", "4"]
    assert found.counted == {(_MARKETING, TODAY): 2}


def test_what_is_of_service_is_told_to_the_holdout_too() -> None:
    held_out = next(name for name in (f"m{number}" for number in range(1000)) if is_held_out("SG", name, 50))
    said = [
        promoted(held_out, number, NOON, journey=JourneyTerms(version=1, kind=kind))
        for number, kind in enumerate(("marketing", "service"))
    ]
    found = decided(*said, holdout=50)
    assert (numbers(found), len(found.untold)) == (["1"], 1)


@pytest.mark.parametrize(
    ("country", "journey", "hour"),
    [
        ("21:00-08:00", None, 8),
        (None, ("22:00", "09:00"), 9),
        ("21:00-08:00", ("22:00", "09:00"), 9),
        ("21:00-08:00", ("06:00", "09:30"), 9.5),
        ("23:00-09:00", ("20:00", "21:00"), 9),
    ],
    ids=["the country's", "the journey's", "the later end", "one after the other", "apart"],
)
def test_quiet_hours_of_the_country_and_of_the_journey_both_apply(
    country: str | None, journey: tuple[str, str] | None, hour: float
) -> None:
    """It is 2 o'clock in Singapore."""
    night = datetime(2026, 5, 4, 18, tzinfo=UTC)
    terms = {"version": 1, "quiet_hours": journey, "timezone": "Asia/Singapore"}
    notice = promoted("bob", 1, night, journey=JourneyTerms.model_validate(terms))
    given = {} if country is None else policies(quiet_hours=country)
    found = contact([DueNotice(notice, [SNS])], given, {}, None, night)
    assert [each.until for each in found.put_off] == [datetime(2026, 5, 4, 16, tzinfo=UTC) + timedelta(hours=hour)]


def test_a_message_that_waits_has_the_quiet_hours_of_both() -> None:
    notice = promoted("bob", 1, NOON, journey=JourneyTerms(version=1, quiet_hours=QuietHours(time(22), time(9))))
    rest = rest_of([notice], policies(quiet_hours="21:00-08:00"), None)
    assert rest is not None
    assert (str(rest.hours), rest.zone.key) == ("21:00-09:00", "Asia/Singapore")


def test_a_code_that_the_member_waits_for_is_told_at_once_and_counts_as_nothing() -> None:
    news = ExchangeCode(program="GRP", country="SG", unit="miles", code="012345", minutes=10)
    code = Notice("bob", "exchange-code:1", NOON, 0, news)
    quiet = "11:00-14:00"
    found = decided(code, earned("bob", 1), caps={"sns": {"service": "1 a day"}}, quiet_hours=quiet)
    assert (found.told[SNS], dict(found.counted)) == ([code], {})
    assert [each.cause for each in found.put_off] == [Cause.QUIET_HOURS]
    assert rest_of([code], policies(quiet_hours=quiet), None) is None
