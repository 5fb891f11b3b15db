"""The calendar of campaigns: what runs in which column, and where campaigns meet."""

from datetime import date, timedelta
from typing import Any

import pytest

from abacus.console.decide.campaign_calendar import By, beside, cells_of, columns_of
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.platform.postgres import Pool
from tests.console.campaigning import MARKET, submitted
from tests.console.desk import desk
from tests.engage.campaigns.offers import campaign
from tests.people.approving import ANN


@pytest.mark.parametrize(
    ("by", "day", "labels", "before", "after"),
    [
        (
            By.WEEK,
            date(2026, 3, 4),
            ["Mon 2", "Tue 3", "Wed 4", "Thu 5", "Fri 6", "Sat 7", "Sun 8"],
            date(2026, 2, 23),
            date(2026, 3, 9),
        ),
        (
            By.MONTH,
            date(2026, 3, 31),
            ["1", "2-8", "9-15", "16-22", "23-29", "30-31"],
            date(2026, 2, 1),
            date(2026, 4, 1),
        ),
        (By.MONTH, date(2026, 12, 1), ["1-6", "7-13", "14-20", "21-27", "28-31"], date(2026, 11, 1), date(2027, 1, 1)),
    ],
)
def test_the_columns_of_a_week_and_of_a_month(by: By, day: date, labels: list[str], before: date, after: date) -> None:
    assert [each.label for each in columns_of(by, day)] == labels
    assert beside(by, day) == (before, after)


@pytest.mark.parametrize(
    ("changes", "by", "cells"),
    [
        ({}, By.MONTH, ["begins", "runs", "runs", "runs", "runs", "ends"]),
        (
            {"starts_at": "2026-03-29T23:59:59+08:00", "ends_at": "2026-03-30T00:00:00+08:00"},
            By.MONTH,
            ["", "", "", "", "begins and ends", ""],
        ),
        ({"starts_at": "2026-01-01T00:00:00+08:00"}, By.MONTH, ["runs", "runs", "runs", "runs", "runs", "ends"]),
        ({"weekdays": ["sat", "tue"]}, By.WEEK, ["", "runs", "", "", "", "runs", ""]),
        ({"starts_at": "2026-05-01T00:00:00+08:00", "ends_at": "2026-06-01T00:00:00+08:00"}, By.WEEK, [""] * 7),
    ],
)
def test_what_a_campaign_does_in_each_column(changes: dict[str, Any], by: By, cells: list[str]) -> None:
    assert [each.value for each in cells_of(campaign(**changes), columns_of(by, date(2026, 3, 2)))] == cells


async def test_the_calendar_shows_the_campaigns_of_the_persons_countries_and_where_they_meet(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await submitted(open_desk)
        campaigns = open_desk.rooms[CampaignDesk]
        soon = (open_desk.clock.now() + timedelta(days=400)).isoformat()
        for changes in ({"name": "second", "exclusive": "one"}, {"name": "later", "starts_at": soon}):
            await campaigns.propose(await campaigns.read({**MARKET, **changes}), ANN)
        ann = await open_desk.inside("ann", "viewer:SG")
        shown = (await ann.twin("/campaigns-calendar")).json()
        assert [(each["campaign"]["name"], set(each["cells"])) for each in shown["rows"]] == [
            ("market", {"runs"}),
            ("second", {"runs"}),
        ]
        assert [(each["first"], each["second"]) for each in shown["meets"]] == [("market", "second")]
        assert (await ann.twin("/campaigns-calendar?by=week&country=ID")).json()["rows"] == []
        met = (await ann.twin("/campaigns/market")).json()["meets"]["value"]
        assert [each["second"] for each in met] == ["second", "later"]
        budi = await open_desk.inside("budi", "viewer:ID")
        assert (await budi.twin("/campaigns-calendar")).json()["rows"] == []
        for day in ("x", "0001-01-01", "9999-12-31"):
            assert (await ann.see(f"/campaigns-calendar?at={day}")).status_code == 404
