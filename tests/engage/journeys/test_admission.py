"""Who enters, and how often."""

from datetime import timedelta
from typing import Any, Final

import pytest

from abacus.engage.journeys.decide.admission import Visits, not_again, not_at, value_of_entry
from abacus.engage.journeys.decide.journey import Late, Lateness
from abacus.engage.journeys.decide.lateness import why_not_done
from abacus.signals.events.types import Event
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import after, journey

_EACH: Final = {"again": "each", "at_most": 10, "at_once": 2, "of": "var.transaction_id"}
_AFTER: Final = {"again": "after", "at_most": 3, "span": "30d"}
_LEAVING: Final = {"again": "after_leaving", "at_most": 2}
_AGAIN: Final = "2026-04-01T12:00:00+08:00"


@pytest.mark.parametrize(
    ("re_entry", "visits", "now", "why"),
    [
        (None, Visits(), NOW, None),
        (None, Visits(1, NOW), after(days=400), "it was inside once, and once is the most"),
        (_LEAVING, Visits(1, NOW, inside=1), NOW, "it is inside"),
        (_LEAVING, Visits(1, NOW), NOW, None),
        (_LEAVING, Visits(2, NOW), NOW, "it was inside 2 times, and 2 times is the most"),
        (_AFTER, Visits(1, NOW), after(days=30, seconds=-1), f"it may enter again at {_AGAIN}"),
        (_AFTER, Visits(1, NOW), after(days=30), None),
        (_AFTER, Visits(1, NOW, inside=1), after(days=31), "it is inside"),
        (_EACH, Visits(1, NOW, 1, {"T-2"}), NOW, None),
        (_EACH, Visits(1, NOW, 1, {"T-1"}), NOW, "it is inside for var.transaction_id T-1"),
        (_EACH, Visits(1, NOW), NOW, None),
        (_EACH, Visits(2, NOW, 2, {"T-2", "T-3"}), NOW, "2 of its visits go on, and 2 at once is the most"),
        (_EACH, Visits(10, NOW), NOW, "it was inside 10 times, and 10 times is the most"),
    ],
)
def test_how_often(re_entry: dict[str, Any] | None, visits: Visits, now: Any, why: str | None) -> None:
    of = journey(re_entry=re_entry)
    assert not_again(of, visits, value_of_entry(of, order(1), {}), now) == why


def test_a_value_that_is_missing_is_no_value() -> None:
    event = order(1)
    without = event._replace(variables={"amount": event.variables["amount"]})
    of = journey(re_entry=_EACH)
    assert not_again(of, Visits(), value_of_entry(of, without, {}), NOW) == "var.transaction_id is missing"


def test_a_value_of_the_context() -> None:
    of = journey(entry={"api": True}, context={"order": "integer"}, re_entry={**_EACH, "of": "context.order"})
    assert value_of_entry(of, order(1), {"order": 7}) == "7"


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (order(1), None),
        (order(1)._replace(country=None), None),
        (order(1)._replace(country="ID"), "the event is of ID, the journey of SG"),
        (order(1)._replace(member_id=None), "the event has no member"),
        (order(1, after=timedelta(days=30)), "welcome@1 takes nobody in at 2026-04-01T12:00:00+08:00"),
        (order(1, after=timedelta(days=-2)), "welcome@1 takes nobody in at 2026-02-28T12:00:00+08:00"),
    ],
)
def test_when(event: Any, why: str | None) -> None:
    assert not_at(journey(), event) == why


@pytest.mark.parametrize(
    ("lateness", "minutes", "resumed", "why"),
    [
        (Lateness(), 600, 600, None),
        (Lateness(Late.SKIP), 0, 1, "held up by a pause"),
        (Lateness(Late.SKIP), 600, 0, None),
        (Lateness(Late.SKIP), 600, None, None),
        (Lateness(not_later_than=timedelta(hours=6)), 360, None, None),
        (Lateness(not_later_than=timedelta(hours=6)), 361, None, "too late"),
        (Lateness(not_later_than=timedelta(hours=6)), 361, 360, "too late"),
    ],
)
def test_what_is_not_done(lateness: Lateness, minutes: int, resumed: int | None, why: str | None) -> None:
    resumed_at = None if resumed is None else after(minutes=resumed)
    assert why_not_done(lateness, NOW, after(minutes=minutes), resumed_at=resumed_at) == why


def test_the_first_award_begins_an_account() -> None:
    of = journey(entry={"life": "first.award"})
    earned = Event("points", "abacus.points.earned.v1", "bob:GRP:1", "bob", "SG", NOW, {"seq": 1})
    assert not_at(of, earned) is None
    assert not_at(of, earned._replace(variables={"seq": 2})) == "it is not the first award of its account"
