"""Where campaigns meet: the same events, the same country, the same time."""

from datetime import datetime
from typing import Any

import pytest

from abacus.engage.campaigns.decide.meetings import meetings, meetings_of
from tests.engage.campaigns.offers import campaign

PURCHASE = "transactions/transaction.completed"
LATER: dict[str, Any] = {"starts_at": "2026-03-20T00:00:00+08:00", "ends_at": "2026-05-01T00:00:00+08:00"}
INDONESIA = {"country": "ID", "timezone": "Asia/Jakarta"}


@pytest.mark.parametrize(
    ("first", "second", "meet"),
    [
        ({}, {}, True),
        ({}, {"name": "market"}, False),  # another version of the same campaign
        ({}, INDONESIA, False),
        ({}, LATER, True),
        ({}, {**LATER, "starts_at": "2026-04-01T00:00:00+08:00"}, False),  # the end does not belong to it
        ({"weekdays": ["sat", "sun"]}, {"weekdays": ["mon"]}, False),
        ({"weekdays": ["sat", "sun"]}, {"weekdays": ["sun", "mon"]}, True),
        # From the 30th, a Monday, to the 31st there is no Saturday.
        ({"weekdays": ["sat"]}, {**LATER, "starts_at": "2026-03-30T00:00:00+08:00"}, False),
        ({"hours": ["09:00-12:00"]}, {"hours": ["12:00-18:00"]}, False),
        ({"hours": ["09:00-12:00"]}, {"hours": ["11:00-18:00"]}, True),
        ({"hours": ["09:00-12:00"]}, {"hours": ["12:00-18:00"], "timezone": "Asia/Jakarta"}, True),
    ],
)
def test_two_campaigns_meet(first: dict[str, Any], second: dict[str, Any], *, meet: bool) -> None:
    pair = campaign(**first), campaign(**{"name": "second", **second})
    assert bool(meetings(pair)) is meet
    assert bool(meetings_of(pair[1], [pair[0]])) is meet


def test_a_meeting_tells_its_events_its_time_and_its_group() -> None:
    tiers = "tiers/abacus.tier.changed.v1"
    first = campaign(name="first", on=[PURCHASE], exclusive="food")
    second = campaign(name="second", on=[tiers, PURCHASE], exclusive="food", **LATER)
    third = campaign(name="third", on=[tiers], **LATER)
    met = meetings([third, second, first])
    assert [(each.first.name, each.second.name, each.group) for each in met] == [
        ("first", "second", "food"),
        ("second", "third", None),
    ]
    assert met[0].on == (("transactions", "transaction.completed"),)
    assert (met[0].since, met[0].until) == (
        datetime.fromisoformat(LATER["starts_at"]),
        datetime.fromisoformat("2026-04-01T00:00:00+08:00"),
    )
