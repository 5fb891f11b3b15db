"""The first page: its cards, whose they are and in which order; points against the week before; and points by time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from abacus.console.decide.deeds import Piece, changes_of
from abacus.intake.pulse.decide.days import day_of
from abacus.intake.pulse.decide.steps import begin_of
from abacus.intake.pulse.store import PulseStore
from abacus.intake.pulse.types import Step, Sum, Summed
from abacus.people.store.audit import entry_of
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardReader
from tests.console.desk import Browser, Desk, desk
from tests.console.furnished import furnished

MIDNIGHT = datetime(2026, 7, 3, tzinfo=UTC)
WEEK = timedelta(days=7)


def quarter(since: datetime, points: int, within_s: float = 0.5) -> Summed:
    return Summed(since, within_s, 3, points)


async def cards(browser: Browser) -> dict[str, Any]:
    """The values of the cards by their names, in their order."""
    return {each["name"]: each["part"]["value"] for each in (await browser.twin("/")).json()["cards"]}


async def posted(open_desk: Desk) -> None:
    minute = begin_of(Step.MINUTE, open_desk.clock.now()) - timedelta(minutes=1)
    now = begin_of(Step.QUARTER, open_desk.clock.now()) - timedelta(minutes=15)
    await PulseStore(open_desk.pool).add(
        [
            Sum(step, since, country, 0.5, 30 * minutes, points * minutes)
            for step, since, minutes in ((Step.MINUTE, minute, 1), (Step.QUARTER, now, 15))
            for country, points in (("SG", 300), ("VN", 4000))
        ]
    )


@pytest.mark.parametrize(("query", "range_", "steps"), [("", "hour", 60), ("?range=week", "week", 672)])
@pytest.mark.parametrize(("roles", "points"), [(("viewer",), 4300), (("viewer:VN",), 4000), (("viewer:TH",), 0)])
async def test_points_a_minute(  # noqa: PLR0917  # a table of two parameters
    pool: Pool, query: str, range_: str, steps: int, roles: tuple[str, ...], points: int
) -> None:
    async with desk(pool) as open_desk:
        await posted(open_desk)
        ann = await open_desk.inside("ann", *roles)
        shown = (await ann.twin(f"/pulse{query}")).json()
        pulse = shown["pulse"]["value"]
        assert (shown["command"], pulse["range"], len(pulse["beats"])) == (
            f"abacus pulse --range {range_}",
            range_,
            steps,
        )
        assert pulse["beats"][-2]["points"] == points
        assert pulse["beats"][-2]["half_s"] == (0.5 if points else None)
        page = (await ann.see(f"/pulse{query}")).text
        assert ("data-chart" in page, "No points came." in page) == (points > 0, points == 0)


async def test_an_unknown_range_is_an_hour(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        assert (await ann.twin("/pulse?range=century")).json()["range"] == "hour"


def test_a_day_stands_against_the_same_time_a_week_before() -> None:
    today = [quarter(MIDNIGHT, 5), quarter(MIDNIGHT + timedelta(hours=1), 7, within_s=86400.0)]
    before = [quarter(MIDNIGHT - WEEK + timedelta(hours=hour), 10) for hour in (0, 1, 9)]
    day = day_of(today, before, MIDNIGHT, MIDNIGHT + timedelta(hours=2, minutes=30))
    assert (day.points, day.before, day.awards) == (12, 20, 6)
    assert [(each.points, each.before) for each in day.hours[:4]] == [(5, 10), (7, 10), (0, 0), (None, 0)]
    assert (day.half_s, day.nearly_all_s, day.late) == (0.5, 0.5, 3)  # an old transaction is no slow house


def test_a_day_of_25_hours_has_24() -> None:
    day = day_of([quarter(MIDNIGHT + timedelta(hours=24, minutes=30), 5)], [], MIDNIGHT, MIDNIGHT + timedelta(hours=25))
    assert day.hours[-1].points == 5


ORDERS = [
    ("approver:SG", ["approvals", "campaigns"]),
    ("country_editor:SG", ["campaigns"]),
    ("support:SG", ["member"]),
    ("finance", ["liability"]),
    ("operator", ["wrong"]),
    ("admin", ["approvals", "wrong"]),
]


@pytest.mark.parametrize(("role", "first"), ORDERS)
async def test_a_role_sees_its_cards_first(pool: Pool, role: str, first: list[str]) -> None:
    async with desk(pool) as open_desk:
        await furnished(open_desk)
        await posted(open_desk)
        ann = await open_desk.inside("ann", role)
        names = [each for each in await cards(ann) if each != "tasks"]
        mine = [each for each in first if each in names]
        assert sorted(names[: len(mine)]) == sorted(mine)
        assert ("liability" in names) is (role in {"finance", "admin"})
        assert ("first-steps" in names) is False


async def test_a_fresh_house_says_nothing_yet(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.rooms[CardReader].refresh()
        eve = await open_desk.inside("eve", "admin")
        page = (await eve.see("/")).text
        assert "Nothing yet" in page
        assert "draft a rate card" in page
        steps = (await cards(eve))["first-steps"]
        assert [each["path"] for each in steps if not each["is_done"]] == ["/people", "/rates", "/partners"]
        assert "first-steps" not in await cards(await open_desk.inside("vic", "viewer"))


async def test_home_says_what_waits_for_a_person_and_what_came_of_its_requests(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await furnished(open_desk)  # ann has asked for a campaign, an offer, a journey and limits
        bo, ann = await open_desk.inside("bo", "approver"), await open_desk.inside("ann", "country_editor")
        vic = await open_desk.inside("vic", "viewer")
        waits = [(await each.twin("/")).json()["waits"] for each in (bo, ann, vic)]
        assert waits == [
            ["4 approvals wait for your decision"],
            ["4 requests of yours wait for another person"],
            [],
        ]
        assert "Campaign “Bring people back”, SG" in (await bo.see("/")).text
        assert (await cards(ann))["asked"]["waiting"] == 4
        assert "Nothing waits for you." in (await vic.see("/")).text
        assert "seen" not in await cards(ann)
        await ann.see("/campaigns/market")
        assert [each["name"] for each in (await cards(ann))["seen"]] == ["market"]


async def test_no_points_today_say_since_when(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        at = begin_of(Step.QUARTER, open_desk.clock.now()) - timedelta(days=1)
        await PulseStore(open_desk.pool).add([Sum(Step.QUARTER, at, "SG", 0.5, 3, 5)])
        ann = await open_desk.inside("ann", "viewer")
        assert "No events since <time" in (await ann.see("/")).text
        assert "yesterday" in (await ann.see("/")).text


async def test_changes_are_those_of_others_since_the_last_visit(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer:SG")
        assert (await cards(ann))["changes"]["is_visit"] is False
        open_desk.clock.pass_(hours=20)
        again = await open_desk.browser()
        assert (await again.sign_in("ann")).status_code == 303
        assert (await cards(again))["changes"]["is_visit"] is True


def test_deeds_are_told_once() -> None:
    deeds = [("person:ben", "SG"), ("person:ann", "SG"), ("person:ben", "SG")]
    entries = [entry_of(by, Deed.ADJUST, "member:bob", MIDNIGHT, country=country) for by, country in deeds]
    [change] = changes_of(entries, "person:ann")
    assert (change.says, change.times) == ([Piece("adjusted the points of "), Piece("bob", "member", "bob")], 2)
