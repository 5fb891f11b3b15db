"""The calendar of campaigns: what runs in which column, and where campaigns meet."""

from datetime import date, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from abacus.console.decide.campaign_calendar import By, beside, cells_of, columns_of
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.platform.postgres import Pool
from tests.console.campaigning import MARKET, submitted
from tests.console.desk import desk
from tests.engage.campaigns.offers import campaign
from tests.people.approving import ANN

# Campaigns that ran for the last hour and were ended.
COPIES: Final = """
insert into campaign (name, version, country, starts_at, ends_at, document, status, drafted_at, drafted_by, changed_at,
    changed_by, approved_by, approved_at)
select 'copy_' || n, 1, country, starts_at, ends_at, jsonb_set(document, '{name}', to_jsonb('copy_' || n)), 'ended',
    drafted_at, drafted_by, $1::timestamptz, changed_by, 'person:ben', $1 - interval '1 hour'
from campaign, generate_series(10, 69) as n
"""


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
        assert [(each["campaign"]["name"], set(each["cells"])) for each in shown["list"]["rows"]] == [
            ("market", {"runs"}),
            ("second", {"runs"}),
        ]
        assert [(each["first"], each["second"]) for each in shown["meets"]["first"]] == [("market", "second")]
        assert (await ann.twin("/campaigns-calendar?by=week&country=ID")).json()["list"]["rows"] == []
        met = (await ann.twin("/campaigns/market")).json()["meets"]["value"]["first"]
        assert [each["second"] for each in met] == ["second", "later"]
        budi = await open_desk.inside("budi", "viewer:ID")
        assert (await budi.twin("/campaigns-calendar")).json()["list"]["rows"] == []
        for wrong in ("at=x", "at=0001-01-01", "at=9999-12-31", "after=x", "after=SG+market", "after=SG+market@x"):
            assert (await ann.see(f"/campaigns-calendar?{wrong}")).status_code == 404


async def test_the_calendar_goes_on_where_a_page_of_it_ends_and_says_what_was_ended(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await submitted(open_desk)
        now = open_desk.clock.now()
        await pool.execute(COPIES, now)
        ann = await open_desk.inside("ann", "viewer:SG")
        day = (now - timedelta(seconds=1)).astimezone(ZoneInfo("Asia/Singapore")).date()
        page = (await ann.twin(f"/campaigns-calendar?at={day}")).json()
        assert (len(page["list"]["rows"]), len(page["meets"]["first"]), page["meets"]["is_whole"]) == (50, 20, False)
        assert page["countries"] == ["SG"]
        rest = (await ann.twin(page["list"]["more"])).json()
        rows = page["list"]["rows"] + rest["list"]["rows"]
        assert [each["campaign"]["name"] for each in rows] == [*(f"copy_{each}" for each in range(10, 70)), "market"]
        assert {each["campaign"]["state"] for each in rows[:-1]} == {"ended"}
        assert (rest["list"]["more"], page["countries"]) == (None, rest["countries"])
        shown = (await ann.see(page["list"]["more"])).text
        assert "copy_69@1</a>" in shown
        assert "There are more campaigns." not in shown
        assert "There are more campaigns." in (await ann.see(f"/campaigns-calendar?at={day}")).text
