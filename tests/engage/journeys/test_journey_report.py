"""What became of members, counted where they move: by node, day, reason and arm, with the conversions."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.journeys.decide.node import Split
from abacus.engage.journeys.decide.report import JourneyReport, against_control
from abacus.engage.journeys.decide.split import arm_of
from abacus.engage.journeys.leaving import leave_all
from abacus.engage.journeys.report import glance, report, report_document
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.facts.types import NOT_NOW
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import HELLO, ORDERS, journey, nodes, rule
from tests.engage.journeys.trip import Trip

DAY: Final = timedelta(days=1)
ALWAYS: Final = (date(2026, 1, 1), date(2027, 1, 1))
BOUGHT: Final = rule("var.vertical", "eq", "mart")
SPLIT: Final[dict[str, Any]] = nodes(
    "arms",
    arms={"split": [{"arm": "control", "share": 50, "next": "quiet"}, {"arm": "a", "share": 50, "next": "hello"}]},
    quiet={"wait": {"for": "3d"}, "next": "done"},
    hello={"do": HELLO, "next": "week"},
    week={"wait": {"for": "3d"}, "next": "done"},
)
WITH_GOAL: Final[dict[str, Any]] = {"goal": {"on": ORDERS, "within": "7d", "when": BOUGHT}}
EXIT: Final[dict[str, Any]] = {"exits": [{"name": "bought", "on": ORDERS, "when": BOUGHT}]}


async def reported(trip: Trip, days: tuple[date, date] = ALWAYS) -> JourneyReport:
    return await report(trip.pool, [trip.journey], days, None)


def by_node(found: JourneyReport) -> dict[str, tuple[int, int, int, Mapping[str, int]]]:
    return {each.node: (each.came, each.passed, each.waiting, each.left) for each in found.nodes}


async def test_nodes_and_days_add_up(pool: Pool) -> None:
    trip = Trip(pool, journey())
    await trip.enter(*range(1, 11))
    found = await reported(trip)
    assert by_node(found)["hello"] == (10, 10, 0, {})
    assert by_node(found)["second"] == (10, 0, 10, {})
    await trip.happen(order(91, "m1", after=DAY), order(92, "m2", after=DAY))
    await trip.pass_to(NOW + 3 * DAY)
    found = await reported(trip)
    assert (found.entered, found.inside, found.left) == (10, 0, {"through": 10})
    assert by_node(found) == {
        "hello": (10, 10, 0, {}),
        "second": (10, 10, 0, {}),
        "thank": (2, 2, 0, {}),
        "remind": (8, 8, 0, {}),
        "done": (10, 0, 0, {"through": 10}),
    }
    days = {(each.day.day, each.node): each.came for each in found.days}
    assert (days[2, "second"], days[5, "remind"]) == (10, 8)
    late = await reported(trip, (date(2026, 3, 5), date(2026, 3, 5)))
    assert (late.entered, late.inside, by_node(late)["remind"][0], by_node(late)["hello"][0]) == (0, 0, 8, 0)


async def test_a_day_is_one_of_the_journeys_clock(pool: Pool) -> None:
    trip = Trip(pool, journey())
    trip.clock.set(datetime(2026, 3, 2, 17, tzinfo=UTC))  # after midnight in Singapore
    await trip.enter(1)
    assert {each.day for each in (await reported(trip)).days} == {date(2026, 3, 3)}


async def test_who_is_fetched_out_of_a_wait_waits_there_no_more(pool: Pool) -> None:
    """Neither while the pack is there nor once it was run; and nobody is counted twice."""
    wait = nodes("pause", pause={"wait": {"for": "3d"}, "next": "done"})
    trip = Trip(pool, journey(**wait, **EXIT))
    await trip.enter(*range(1, 6))
    await trip.happen(order(91, "m1", after=DAY, vertical="mart"), order(92, "m2", after=DAY, vertical="food"))
    for _ in range(2):
        found = await reported(trip)
        assert (found.inside, found.left, by_node(found)["pause"]) == (4, {"bought": 1}, (5, 0, 4, {}))
        await trip.happen(order(91, "m1", after=DAY, vertical="mart"))  # the same again
    assert (await glance(pool, "welcome")).fetched == 1
    await trip.pass_to(NOW + 4 * DAY)
    found = await reported(trip)
    assert (found.inside, found.left) == (0, {"bought": 1, "through": 4})
    assert by_node(found) == {"pause": (5, 4, 0, {}), "done": (4, 0, 0, {"through": 4})}
    assert (await glance(pool, "welcome")).fetched == 0


async def test_who_is_erased_has_left(pool: Pool) -> None:
    trip = Trip(pool, journey(**nodes("pause", pause={"wait": {"for": "3d"}, "next": "done"})))
    await trip.enter(1, 2)
    async with slices.at(pool, "m1") as connection, connection.transaction():
        await leave_all(connection, "m1", "erased", NOW)
        await leave_all(connection, "m1", "erased", NOW)
    found = await reported(trip)
    assert (found.inside, found.left, by_node(found)["pause"][2]) == (1, {"erased": 1}, 1)
    await trip.pass_to(NOW + 4 * DAY)
    assert by_node(await reported(trip))["pause"] == (2, 1, 0, {})


async def test_arms_have_their_conversions_also_of_who_left_by_the_goal(pool: Pool) -> None:
    trip = Trip(pool, journey(**SPLIT, **WITH_GOAL, **EXIT))
    members = range(1, 41)
    await trip.enter(*members)
    buyers = [each for each in members if each % 4 == 0]
    await trip.happen(*(order(100 + each, f"m{each}", after=DAY, vertical="mart") for each in buyers))
    await trip.happen(*(order(200 + each, f"m{each}", after=2 * DAY, vertical="mart") for each in buyers))
    await trip.happen(order(300, "m1", after=DAY, vertical="food"), order(301, "m2", after=8 * DAY, vertical="mart"))
    split = trip.journey.nodes["arms"]
    assert isinstance(split.part, Split)
    arm = {each: arm_of(split.part, "welcome", split.number, f"m{each}").name for each in members}
    found = await reported(trip)
    assert {each.arm: (each.members, each.conversions) for each in found.arms} == {
        name: (sum(arm[each] == name for each in members), sum(arm[each] == name for each in buyers))
        for name in ("a", "control")
    }
    assert (found.converted, found.entered, found.left) == (10, 40, {"bought": 11})
    gift = found.arms[0]
    assert gift.interval is not None
    assert gift.interval.low < gift.conversions / gift.members < gift.interval.high
    against = against_control(gift, found.arms)
    assert against is not None
    document = report_document(trip.journey, found, ALWAYS)
    assert document["arms"][0]["against_control"] == against._asdict()


async def test_a_conversion_is_within_its_time_after_the_entry(pool: Pool) -> None:
    trip = Trip(pool, journey(**SPLIT, **WITH_GOAL))
    await trip.enter(1, 2, 3)
    await trip.happen(
        order(1, "m1", vertical="mart"),  # at the moment of the entry
        order(92, "m2", after=7 * DAY, vertical="mart"),
        order(93, "m3", after=7 * DAY + timedelta(seconds=1), vertical="mart"),
    )
    assert (await reported(trip)).converted == 1


async def test_a_goal_that_cannot_be_judged_is_waited_for_a_moment(pool: Pool) -> None:
    gold: dict[str, Any] = {"goal": {"on": ORDERS, "within": "7d", "when": rule("member.tier", "eq", "gold")}}
    trip = Trip(pool, journey(**SPLIT, **gold), tiers={"m1": NOT_NOW, "m2": "gold"})
    await trip.enter(1, 2)
    orders = order(101, "m1", after=DAY), order(102, "m2", after=DAY)
    with pytest.raises(Unavailable):
        await trip.happen(*orders)
    trip.clock.set(trip.clock.now() + timedelta(seconds=2))
    await trip.happen(*orders)
    assert (await reported(trip)).converted == 1
