"""Members enter and leave journeys because somebody asks: callers, and deeds of other journeys."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from abacus.engage.actions.action_store import ActionStore
from abacus.engage.journeys.decide.halts import Halts
from abacus.engage.journeys.decide.orders import receiver_of
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.signals.events.types import Value
from abacus.signals.facts.types import NOT_NOW
from tests.engage.campaigns.offers import NOW, order
from tests.engage.journeys.examples import ORDERS, journey, nodes, rule
from tests.engage.journeys.stage import HOUR, Stage
from tests.engage.journeys.test_walks import BROKEN, Tiers
from tests.support.slices import neighbour

BY_CALL: Final[dict[str, Any]] = {"entry": {"api": True}, "context": {"seats": "integer", "reason": "text"}}
CONTEXT: Final[Mapping[str, Value]] = {"seats": 2, "reason": "rain"}
DAY = {"day": {"wait": {"for": "1d"}, "next": "done"}}
CALLED = journey(**BY_CALL, **nodes("day", **DAY))
START = {"do": {"start": {"journey": "farewell", "context": {"reason": "var.vertical", "points": 5}}}, "next": "done"}
FAREWELL = journey(
    name="farewell", entry={"api": True}, context={"reason": "text", "points": "integer"}, **nodes("day", **DAY)
)
STARTS = journey(**nodes("start", start=START))
ENDS = journey(**nodes("end", end={"do": {"end": {"journey": "farewell"}}, "next": "done"}))


async def test_a_member_who_is_asked_in_enters_once_with_its_context(pool: Pool) -> None:
    stage = Stage(pool, CALLED)
    await stage.start("bob", CONTEXT)
    assert await stage.take() == 1
    assert await stage.visits() == [("bob", 1, 1, None)]
    assert await pool.fetchval("select context::text from seat") == '{"seats":2,"reason":"rain"}'
    assert await stage.orders() == [("bob", True, None)]
    assert await stage.take() == 0


async def test_what_is_against_an_entry_is_kept_with_its_order(pool: Pool) -> None:
    fields = {**BY_CALL, "entry": {"api": True, "when": rule("context.seats", "gt", 1)}, **nodes("day", **DAY)}
    stage = Stage(pool, journey(**fields), ended={"herd"})
    await stage.start("ann", {**CONTEXT, "seats": 1})
    await stage.start("bob", CONTEXT)
    await stage.start("bob", CONTEXT, "api:acme:2")
    await stage.start("cid", {"seats": "two"})
    await stage.start("=dot", CONTEXT)
    await stage.start("eve", {}, journey="herd")
    assert await stage.take() == 6
    assert await stage.orders() == [
        ("=dot", False, "no new member may have such an id"),
        ("ann", False, "the rule of the entry does not hold"),
        ("bob", True, None),
        ("bob", False, "it was inside once, and once is the most"),
        ("cid", False, "its context: /seats: not an integer of 64 bits; /reason: missing"),
        ("eve", False, "herd is ended"),
    ]
    assert await stage.visits() == [("bob", 1, 1, None)]


async def test_a_journey_whose_members_enter_otherwise_is_not_started(pool: Pool) -> None:
    """Its version may be newer than what asks."""
    stage = Stage(pool, journey(entry={"on": ORDERS}))
    await stage.start("bob", {})
    await stage.take()
    assert await stage.orders() == [("bob", False, "members do not enter welcome@1 by the API")]


async def test_orders_to_a_journey_that_is_paused_wait(pool: Pool) -> None:
    stage = Stage(pool, FAREWELL)
    await stage.start("bob", CONTEXT)
    assert await stage.take() == 0
    assert await Stage(pool, CALLED).take() == 1
    assert await stage.visits() == [("bob", 1, 1, None)]


async def test_orders_are_taken_again_where_a_value_cannot_be_told(pool: Pool) -> None:
    """One by one, so that others do not wait for it for long."""
    gold = {**BY_CALL, "entry": {"api": True, "when": rule("member.tier", "eq", "gold")}, **nodes("day", **DAY)}
    stage = Stage(pool, journey(**gold), tiers=Tiers({"bob": NOT_NOW, "ann": "gold"}))
    await stage.start("bob", CONTEXT)
    await stage.start("ann", CONTEXT)
    await stage.take()
    await stage.take(NOW + timedelta(minutes=1))
    await stage.take(NOW + timedelta(minutes=2))
    assert [each[0] for each in await stage.visits()] == ["ann"]
    stage.tiers.tiers = {"bob": "gold"}
    await stage.take(NOW + timedelta(minutes=3))
    assert [each[0] for each in await stage.visits()] == ["ann", "bob"]


async def test_an_order_that_meets_a_fault_holds_up_no_other(pool: Pool) -> None:
    gold = {**BY_CALL, "entry": {"api": True, "when": rule("member.tier", "eq", "gold")}, **nodes("day", **DAY)}
    stage = Stage(pool, journey(**gold), tiers=Tiers({"ann": "gold", "bob": BROKEN}))
    await stage.start("bob", CONTEXT)
    await stage.start("ann", CONTEXT)
    for minute in range(3):
        await stage.take(NOW + timedelta(minutes=minute))
    assert [each[0] for each in await stage.visits()] == ["ann"]
    assert await stage.orders() == [("ann", True, None), ("bob", False, None)]


async def test_a_journey_starts_another_once_with_a_context_of_its_own(pool: Pool) -> None:
    stage = Stage(pool, STARTS, FAREWELL)
    await stage.happen(order(1), order(1))
    assert await stage.take() == 1
    seats = "select journey, key, context::text, why from seat order by journey"
    assert [tuple(row) for row in await pool.fetch(seats)] == [
        ("farewell", f"journey:welcome:1:bob:{STARTS.nodes['start'].number}", '{"reason":"food","points":5}', None),
        ("welcome", "transactions:transaction.completed:mart:T-1", None, "through"),
    ]


async def test_a_journey_ends_another_where_the_member_is_inside(pool: Pool) -> None:
    """Visits that begin later go on, and so do those of others."""
    stage = Stage(pool, ENDS, FAREWELL)
    context: Mapping[str, Value] = {"reason": "rain", "points": 5}
    for member in ("ann", "bob"):
        await stage.start(member, context, journey="farewell")
    await stage.take()
    await stage.happen(order(1, after=HOUR), at=NOW + HOUR)
    assert await stage.take(NOW + HOUR) == 1
    whys = "select member_id, why from seat where journey = 'farewell' order by 1"
    assert [tuple(row) for row in await pool.fetch(whys)] == [("ann", None), ("bob", "ended by journey welcome")]
    trail = "select sum(cardinality(members)) from journey_trail where why = 'ended by journey welcome'"
    assert await pool.fetchval(trail) == 1


async def test_an_order_to_end_ends_no_visit_that_began_after_it(pool: Pool) -> None:
    stage = Stage(pool, CALLED)
    await stage.end("bob")
    stage.clock.set(NOW + HOUR)
    await stage.start("bob", CONTEXT)
    await stage.take(NOW + HOUR)
    assert await stage.visits() == [("bob", 1, 1, None)]


async def test_a_process_that_dies_leaves_its_orders_to_another(pool: Pool) -> None:
    """Orders that one process has taken are not taken by another, and are done once after it is gone."""
    stage = Stage(pool, CALLED)
    await stage.start("bob", CONTEXT)
    slice_ = await slices.slice_of(pool, "bob")
    with_them = ActionStore(pool, stage.clock).taken(slice_, receiver_of("welcome"), 10)
    async with with_them as batch:
        assert len(batch.actions) == 1
        assert await stage.take() == 0
    assert await stage.take() == 1
    assert await stage.visits() == [("bob", 1, 1, None)]


async def test_a_journey_that_was_ended_starts_no_other(pool: Pool) -> None:
    """Also where its order waits already."""
    stage = Stage(pool, STARTS, FAREWELL)
    await stage.happen(order(1))
    stage.running = replace(stage.running, halts=Halts(ended={("welcome", 1)}))
    assert await stage.take() == 1
    assert await stage.orders() == [("bob", False, "the journey was ended")]
    assert [each[1] for each in await stage.visits()] == [1]


async def test_sums_are_the_last_thing_in_their_transaction(pool: Pool) -> None:
    """Others who count the same wait from then on: two that go on behind it may fall into a deadlock. Each row tells by
    which command of its transaction it was written.
    """
    stage, beside = Stage(pool, CALLED), neighbour("ann")
    for place, member in enumerate(("bob", beside, "bob")):
        await stage.start(member, CONTEXT, f"api:acme:{place}")
    await stage.end("bob", "api:acme:end")
    assert await stage.take() == 4
    async with slices.at(pool, "bob") as connection:
        by = {
            table: await connection.fetchrow(f"select min(cmin::text::integer), max(cmin::text::integer) from {table}")
            for table in ("journey_sum", "action", "seat", "journey_refusal", "pack")
        }
    first_sum = by.pop("journey_sum")[0]
    assert all(last < first_sum for _, last in by.values()), by
