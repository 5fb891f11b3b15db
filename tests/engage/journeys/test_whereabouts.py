"""Where a member is in a journey, and how it came there: each decision by the values that were there then."""

from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from abacus.core.errors import Unavailable
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.visit import Seen
from abacus.engage.journeys.refusal_rows import Refusal, keep, refusal_of
from abacus.engage.journeys.whereabouts import Whereabouts, whereabouts
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.facts.types import NOT_NOW
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import AROUND, HELLO, ORDERS, journey, nodes, rule
from tests.engage.journeys.stage import Stage
from tests.engage.journeys.test_happenings import GOLD
from tests.engage.journeys.test_walks import Tiers, Versions
from tests.engage.journeys.trip import Trip
from tests.engage.journeys.unfolding import WAYS, House, deed_actions, through

DAY: Final = timedelta(days=1)
BY_TIER: Final[dict[str, Any]] = nodes(
    "arms",
    arms={"split": [{"arm": "a", "share": 50, "next": "pause"}, {"arm": "b", "share": 50, "next": "pause"}]},
    pause={"wait": {"for": "1d"}, "next": "which"},
    which={"branch": [{"when": rule("member.tier", "eq", "gold"), "next": "hello"}], "otherwise": "second"},
    hello={"do": HELLO, "next": "second"},
    second={"wait": {"for": "2d", "event": {"on": ORDERS}}, "next": "done", "otherwise": "done"},
)


async def where(trip: Trip, member_id: str) -> Whereabouts:
    return await whereabouts(trip.pool, trip.armed, [trip.journey], member_id, trip.clock.now())


async def test_each_decision_is_told_with_the_value_that_it_was_made_by(pool: Pool) -> None:
    """Members of one pack have values of their own, and what is known later changes nothing."""
    trip = Trip(pool, journey(**BY_TIER), tiers={"m1": "gold", "m2": "silver"})
    await trip.enter(1, 2)
    (visit,) = (await where(trip, "m1")).visits
    assert (visit.waits, len(visit.steps)) == ("pause", 1)
    assert visit.due is not None
    assert NOW + DAY <= visit.due < NOW + DAY + timedelta(seconds=1)
    await trip.pass_to(NOW + DAY + timedelta(seconds=1))
    trip.tiers.tiers = {}
    for member, tier, way in (("m1", "gold", "1"), ("m2", "silver", "otherwise")):
        (visit,) = (await where(trip, member)).visits
        first, second = visit.steps
        assert (first.woken, [(each.node, each.way) for each in first.stops]) == ("entered", [("arms", visit.arm)])
        assert (second.woken, second.waits, visit.waits) == ("due", "second", "second")
        assert [(each.node, each.way) for each in second.stops][:2] == [("pause", ""), ("which", way)]
        assert second.stops[1].seen == (Seen("member.tier eq gold", tier, holds=tier == "gold"),)
        assert [(each.node, each.kind, each.state) for each in visit.done] == (
            [("hello", "tell", "waiting")] if tier == "gold" else []
        )


async def test_the_end_of_a_visit_has_its_reason(pool: Pool) -> None:
    bought: dict[str, Any] = {"exits": [{"name": "bought", "on": ORDERS, "when": rule("var.vertical", "eq", "mart")}]}
    trip = Trip(pool, journey(**BY_TIER, **bought))
    await trip.enter(1, 2)
    await trip.happen(order(91, "m1", after=timedelta(hours=1), vertical="mart"))
    (visit,) = (await where(trip, "m1")).visits
    assert (visit.why, visit.waits, visit.due, visit.left_at) == ("bought", None, None, NOW + timedelta(hours=1))
    assert [(each.woken, each.left) for each in visit.steps] == [("entered", None), ("event", "bought")]
    await trip.pass_to(NOW + DAY + timedelta(seconds=1))
    await trip.happen(order(92, "m2", after=2 * DAY))
    (visit,) = (await where(trip, "m2")).visits
    assert (visit.why, visit.steps[-1].woken) == ("through", "event")
    assert [(each.node, each.way) for each in visit.steps[-1].stops] == [("second", "event"), ("done", "")]


async def test_what_waits_to_be_done_and_what_cannot_be_done_is_told(pool: Pool) -> None:
    house = House(pool, "welcome", entry={"api": True}, context={"trip": "integer"})
    (of,) = house.journeys.values()
    await house.come_in(of, [1], b'{"trip": 7}')
    await house.come_in(of, [2])
    await through(house, [3])
    known = ArmedVersions(Versions(of).of, lambda: AROUND)

    async def told(member_id: str) -> set[tuple[str, str, str]]:
        (visit,) = (await whereabouts(pool, known, [of], member_id, house.clock.now())).visits
        assert [each.decided_at for each in visit.done] == [house.clock.now()] * 2
        assert {each.key.rpartition(":")[0] for each in visit.done} == {f"journey:welcome:1:{member_id}"}
        assert all((each.state == "set aside") == ("trip" in (each.reason or "")) for each in visit.done)
        return {(each.node, each.kind, each.state) for each in visit.done}

    waits = {("hello", "tell", "waiting"), ("gift", "award", "waiting")}
    assert (await told("m1"), await told("m2")) == (waits, waits)
    await house.unfold(house.unfolder_by(deed_actions(journey(**WAYS))))  # which knows of no trip
    aside = {("hello", "tell", "set aside"), ("gift", "award", "set aside")}
    assert (await told("m1"), await told("m2")) == (aside, waits)


async def test_who_never_entered_was_nowhere(pool: Pool) -> None:
    assert await where(Trip(pool, journey()), "bob") == Whereabouts([], None, [])


async def test_what_cannot_be_decided_yet_is_told(pool: Pool) -> None:
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": NOT_NOW}))
    for at in (NOW, NOW + timedelta(seconds=2)):
        with suppress(Unavailable):
            await stage.happen(order(1), at=at)
    found = await where(Trip(pool, journey()), "bob")
    fault = "what the entry of welcome@1 looks up cannot be told now"
    assert [(each.key, each.at, each.tries) for each in found.undecided] == [(order(1).key, NOW, 1)]
    assert (fault in found.undecided[0].fault, found.visits, found.refusal) == (True, [], None)


async def test_the_last_reason_is_kept_once_for_each_member_and_journey(pool: Pool) -> None:
    silver = Refusal("bob", "welcome", 1, NOW, "its rule", [Seen("member.tier eq gold", "silver", holds=False)])
    hour = timedelta(hours=1)
    told = [
        (silver, NOW),
        (silver._replace(at=NOW + hour / 2), NOW),  # nothing new within the hour
        (silver._replace(at=NOW + 2 * hour), NOW + 2 * hour),
        (silver._replace(at=NOW + 2.5 * hour, why="it is held out", seen=[]), NOW + 2.5 * hour),
        (silver._replace(at=NOW + hour), NOW + 2.5 * hour),  # events are read again
    ]
    found: Refusal | None = None
    for refusal, at in told:
        async with slices.at(pool, "bob") as connection:
            await keep(connection, [("event:1", refusal)])
            found = await refusal_of(connection, "welcome", "bob")
        assert found is not None
        assert found.at == at
    assert await pool.fetchval("select count(*) from journey_refusal") == 1
    assert (await where(Trip(pool, journey()), "bob")).refusal == found
