"""How an account's tier changes: by points, the end of a period, an operator's word."""

from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.pricing.decide.card import BASE_TIER
from abacus.programs.tiers.decide.heard import Heard
from abacus.programs.tiers.decide.policy import LONG_AGO
from abacus.programs.tiers.decide.tier_change import (
    AccountTier,
    Calendars,
    Change,
    Known,
    Reason,
    count,
    override,
    roll,
)
from tests.programs.tiers.cards import book, card

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CALENDARS = Calendars(book(), {})
END_OF_H1, END_OF_H2 = date(2026, 6, 30), date(2026, 12, 31)
NOBODY = Known(AccountTier.opened(("bob", "GRP")), {}, None)


def heard(seq: int, points: int, day: str = "2026-03-10", **changed: Any) -> Heard:
    at = datetime.fromisoformat(f"{day}T12:00:00+08:00").astimezone(UTC)
    return Heard("bob", "GRP", seq, points, "SG", at)._replace(**changed)


def after(
    events: Iterable[Heard], known: Known = NOBODY, calendars: Calendars = CALENDARS
) -> tuple[Known, list[Change]]:
    changes: list[Change] = []
    for event in events:
        known, decided = count(known, event, calendars, NOW)
        changes += decided
    return known, changes


def steps(changes: Iterable[Change]) -> list[tuple[int, str, str, str]]:
    return [(change.n, change.from_tier, change.to_tier, change.reason) for change in changes]


def test_a_member_rises_at_once_and_each_step_is_told() -> None:
    known, changes = after([heard(1, 299), heard(2, 1), heard(3, 4200)])
    assert steps(changes) == [(1, "member", "silver", "upgrade"), (2, "silver", "platinum", "upgrade")]
    assert (known.account.country, known.account.until, known.account.last_seq) == ("SG", END_OF_H2, 3)
    first = changes[0]
    assert (first.earned, first.starts_on, first.ends_on) == (300, date(2026, 1, 1), END_OF_H1)
    assert (first.until, first.changed_at, first.country) == (END_OF_H2, NOW, "SG")


def test_points_that_were_counted_change_nothing() -> None:
    events = [heard(1, 200), heard(2, 200)]
    known, _ = after(events)
    assert after(events, known) == (known, [])
    assert after([heard(2, 10_000)], known) == (known, [])


def test_reversed_points_take_the_tier_that_they_carried() -> None:
    known, changes = after([heard(1, 310), heard(2, -10), heard(3, -1)])
    assert steps(changes) == [(1, "member", "silver", "upgrade"), (2, "silver", "member", "reversal")]
    assert (known.account.tier, known.account.until) == ("member", None)
    assert changes[1].earned == 299


def test_reversed_points_leave_what_the_period_before_carries() -> None:
    known, changes = after([heard(1, 400), heard(2, 1500, "2026-08-01"), heard(3, -1500, "2026-08-02")])
    assert steps(changes)[1:] == [(2, "silver", "gold", "upgrade"), (3, "gold", "silver", "reversal")]
    assert (known.account.tier, known.account.until) == ("silver", END_OF_H2)


def test_at_the_end_a_tier_steps_down_to_what_was_earned_since() -> None:
    known, _ = after([heard(1, 1500), heard(2, 300, "2026-07-01")])
    assert roll(known, END_OF_H1, NOW) == (known, [])
    stepped, changes = roll(known, END_OF_H2, NOW)
    assert steps(changes) == [(2, "gold", "silver", "period end")]
    assert (changes[0].earned, changes[0].starts_on) == (300, date(2026, 7, 1))
    assert (stepped.account.tier, stepped.account.until) == ("silver", date(2027, 6, 30))
    assert roll(stepped, END_OF_H2, NOW) == (stepped, [])
    gone, changes = roll(stepped, date(2027, 6, 30), NOW)
    assert steps(changes) == [(3, "silver", "member", "period end")]
    assert (gone.account.until, changes[0].until) == (None, None)


def test_a_tier_earned_anew_is_kept_without_a_word() -> None:
    known, _ = after([heard(1, 300), heard(2, 300, "2026-07-01")])
    assert (known.account.tier, known.account.until) == ("silver", date(2027, 6, 30))
    assert roll(known, END_OF_H2, NOW) == (known, [])

    cheaper = card(
        since=datetime(2026, 7, 1, tzinfo=UTC), tier_policy={"period_months": 6, "thresholds": {"silver": 100}}
    )
    calendars = Calendars(book(card(), cheaper), {})
    known, _ = after([heard(1, 300), heard(2, 100, "2026-07-05")], calendars=calendars)
    assert known.account.until == END_OF_H2
    kept, changes = roll(known, END_OF_H2, NOW)
    assert (kept.account.tier, kept.account.until, changes) == ("silver", date(2027, 6, 30), [])


@pytest.mark.parametrize(
    ("rolled_through", "day", "tier"),
    [
        (END_OF_H1, "2026-03-10", "silver"),  # rolled, but a tier that is earned there still lasts
        (END_OF_H2, "2026-07-01", "silver"),
        (END_OF_H2, "2026-06-30", "member"),  # the tier that it would have carried is over
        (END_OF_H2, "2024-01-01", "member"),
    ],
)
def test_late_points_count_for_their_own_period(rolled_through: date, day: str, tier: str) -> None:
    calendars = CALENDARS._replace(rolled_through={"SG": rolled_through})
    known, changes = after([heard(1, 300, day)], calendars=calendars)
    assert (known.account.tier, len(changes)) == (tier, int(tier != "member"))
    assert [tally.earned for tally in known.tallies.values()] == [300]


def test_points_that_come_between_the_end_and_the_job_find_the_tier_ended() -> None:
    known, _ = after([heard(1, 1500)])
    calendars = CALENDARS._replace(rolled_through={"SG": END_OF_H2})
    known, changes = after([heard(2, 300, "2027-01-01")], known, calendars)
    assert steps(changes) == [(2, "gold", "member", "period end"), (3, "member", "silver", "upgrade")]


def test_an_override_stands_above_the_points_until_it_is_cleared() -> None:
    known, _ = after([heard(1, 300)])
    known, changes = override(known, "platinum", "jane", "a wedding", NOW)
    assert steps(changes) == [(2, "silver", "platinum", "override")]
    assert (changes[0].actor, changes[0].note, changes[0].until, changes[0].earned) == ("jane", "a wedding", None, None)
    assert override(known, "platinum", "jane", "again", NOW)[1] == []
    known, changes = after([heard(2, 1500)], known)
    assert (known.tier, known.account.tier, changes) == ("platinum", "gold", [])
    rolled, changes = roll(known, END_OF_H2, NOW)
    assert (rolled.tier, rolled.account.tier, changes) == ("platinum", "member", [])
    known, changes = override(known, None, "jane", "over", NOW)
    assert steps(changes) == [(3, "platinum", "gold", "override cleared")]
    assert changes[0].until == END_OF_H2


def test_home_is_where_points_of_the_program_were_first_earned() -> None:
    """One account has one calendar and one set of thresholds, wherever its member travels."""
    thai = card(
        "TH", timezone="Asia/Bangkok", tier_policy={"period_months": 1, "thresholds": {"silver": 100, "gold": 200}}
    )
    other = card("ID", program="OVO")
    calendars = Calendars(book(card(), thai, other), {})
    events = [heard(1, 5000, country="ID"), heard(2, 50), heard(3, 249, country="TH"), heard(4, 1, country="TH")]
    known, changes = after(events, calendars=calendars)
    assert known.account.country == "SG"
    assert steps(changes) == [(1, "member", "silver", "upgrade")]
    assert changes[0].earned == 300


@pytest.mark.parametrize("cards", [[card(tier_policy=None)], [card("TH")], [card(since=NOW)], [card(program="OVO")]])
def test_without_a_policy_nothing_is_kept_but_how_far_was_read(cards: list[Any]) -> None:
    known, changes = after([heard(7, 5000)], calendars=Calendars(book(*cards), {}))
    assert (known.account.tier, known.account.last_seq, known.tallies, changes) == ("member", 7, {}, [])


def test_the_policy_is_that_of_the_day_on_which_points_were_earned() -> None:
    dearer = card(
        since=datetime(2026, 7, 1, tzinfo=UTC), tier_policy={"period_months": 6, "thresholds": {"silver": 1000}}
    )
    calendars = Calendars(book(card(), dearer), {})
    known, _ = after([heard(1, 999, "2026-08-01")], calendars=calendars)
    assert known.account.tier == "member"
    known, _ = after([heard(2, 300, "2026-06-01")], known, calendars)
    assert known.account.tier == "silver"


def test_another_length_of_periods_leaves_tiers_to_their_own_end() -> None:
    yearly = card(
        since=datetime(2026, 7, 1, tzinfo=UTC), tier_policy={"period_months": 12, "thresholds": {"silver": 600}}
    )
    calendars = Calendars(book(card(), yearly), {})
    known, _ = after([heard(1, 300, "2026-06-01"), heard(2, 599, "2026-08-01")], calendars=calendars)
    assert (known.account.tier, known.account.until) == ("silver", END_OF_H2)
    known, changes = roll(known, END_OF_H2, NOW)
    assert (known.account.tier, changes[0].earned) == ("member", 599)


days = st.sampled_from(["2025-12-01", "2026-01-15", "2026-06-30", "2026-07-01", "2026-12-31", "2027-02-01"])
earnings = st.lists(st.tuples(st.integers(-2000, 2000).filter(bool), days), max_size=12)
ends = [LONG_AGO, date(2025, 12, 31), END_OF_H1, END_OF_H2, date(2027, 6, 30)]


@given(earnings, st.lists(st.integers(0, 12), min_size=4, max_size=4).map(sorted))
def test_when_the_periods_are_ended_makes_no_difference_in_the_end(
    earned: list[tuple[int, str]], rolled_before: list[int]
) -> None:
    """Live, with the job in between, or replayed afterwards: the tier is the same, and each change follows the last."""
    live, changes = NOBODY, list[Change]()
    for place in range(len(earned) + 1):
        done = sum(at <= place for at in rolled_before)
        calendars = CALENDARS._replace(rolled_through={"SG": ends[done]})
        live, decided = roll(live, ends[done], NOW)
        changes += decided
        if place < len(earned):
            live, decided = count(live, heard(place + 1, *earned[place]), calendars, NOW)
            changes += decided
    live, decided = roll(live, ends[4], NOW)
    changes += decided
    replayed, _ = after(
        (heard(place + 1, *each) for place, each in enumerate(earned)),
        calendars=CALENDARS._replace(rolled_through={"SG": ends[4]}),
    )
    assert replayed.account._replace(changes=0) == live.account._replace(changes=0)
    assert replayed.tallies == live.tallies
    assert [change.n for change in changes] == list(range(1, len(changes) + 1))
    told = [BASE_TIER, *(change.to_tier for change in changes)]
    assert told[:-1] == [change.from_tier for change in changes]
    assert told[-1] == live.tier
    assert all(change.reason is not Reason.UPGRADE or change.earned for change in changes)
