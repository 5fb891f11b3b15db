"""Events let members in and move them, in their order, each once."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

import orjson
import pytest

from abacus.core.errors import Unavailable
from abacus.engage.campaigns.decide.cycles import EARNED
from abacus.engage.journeys.aside_rows import What, aside, put_back
from abacus.engage.journeys.late_rows import take_late
from abacus.engage.journeys.status import journey_state
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.types import Event
from abacus.signals.facts.types import NOT_NOW
from tests.engage.campaigns.offers import CARDS, NOW, order
from tests.engage.journeys.examples import ORDERS, journey, nodes, rule
from tests.engage.journeys.stage import HOUR, Stage
from tests.engage.journeys.test_walks import BROKEN, Tiers

TIER = ("tiers", "abacus.tier.changed.v1")
GOLD = rule("member.tier", "eq", "gold")
SECOND: Final = timedelta(seconds=1)


async def test_an_event_lets_a_member_in_once_and_the_next_one_ends_the_wait(pool: Pool) -> None:
    """Both are read together, and then again."""
    stage = Stage(pool, journey())
    events = order(1), order(2, after=HOUR), order(3, "ann")
    await stage.happen(*events)
    assert await stage.visits() == [("ann", 1, 1, None), ("bob", 1, 1, "through")]
    await stage.happen(*events, at=NOW + HOUR)
    assert await stage.visits() == [("ann", 1, 1, None), ("bob", 1, 1, "through")]
    keys = await pool.fetch("select key from action where member_id = 'bob'")
    assert len(keys) == 2


@pytest.mark.parametrize(
    ("fields", "visits"),
    [
        ({}, 1),
        ({"re_entry": {"again": "after_leaving", "at_most": 2}}, 2),
        ({"re_entry": {"again": "after", "span": "1d", "at_most": 5}}, 1),
    ],
)
async def test_members_enter_again_as_the_document_says(pool: Pool, fields: Mapping[str, Any], visits: int) -> None:
    stage = Stage(pool, journey(**fields))
    for number in range(6):  # enters, leaves, enters, …
        await stage.happen(order(number, after=number * HOUR), at=NOW + number * HOUR)
    assert len(await stage.visits()) == visits


async def test_the_rule_of_the_entry_decides_by_what_is_looked_up(pool: Pool) -> None:
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": "gold"}))
    await stage.happen(order(1), order(2, "ann"))
    assert await stage.visits() == [("bob", 1, 1, None)]
    assert stage.tiers.loads == [2]


async def test_events_are_tried_again_where_a_value_cannot_be_told(pool: Pool) -> None:
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": NOT_NOW}))
    with pytest.raises(Unavailable):
        await stage.happen(order(1))
    stage.tiers.tiers = {"bob": "gold"}
    await stage.happen(order(1))
    assert await stage.visits() == [("bob", 1, 1, None)]


async def test_an_entry_that_cannot_be_decided_is_late_and_holds_up_nobody(pool: Pool) -> None:
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"ann": "gold", "bob": NOT_NOW}))
    with pytest.raises(Unavailable):
        await stage.happen(order(1), order(2, "ann"))
    await stage.happen(order(1), order(2, "ann"), at=NOW + 2 * SECOND)
    assert await stage.visits() == [("ann", 1, 1, None)]
    await stage.happen(order(3), order(4, "ann"), at=NOW + 3 * SECOND)  # at once, for who is known to be late
    assert await pool.fetchval("select count(*) from journey_entry_aside") == 2
    assert await stage.look_again(3 * SECOND) == 0, "it is not due yet"
    stage.tiers.tiers = {"bob": "gold"}
    assert await stage.look_again(8 * SECOND) == 2
    assert await stage.visits() == [("ann", 1, 1, None), ("bob", 1, 1, None)]
    event = orjson.loads(await pool.fetchval("select event::text from seat where member_id = 'bob'"))
    assert event["member_id"] == "bob", "it came in by its event"
    assert await pool.fetchval("select count(*) from journey_entry_aside") == 0


async def test_a_late_entry_is_tried_by_one_process_at_a_time(pool: Pool) -> None:
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": NOT_NOW}))
    for at in (NOW, NOW + 2 * SECOND):
        with suppress(Unavailable):
            await stage.happen(order(1), at=at)
    async with slices.at(pool, "bob") as connection:
        for taken in (1, 0):
            assert len(await take_late(connection, "welcome", NOW + HOUR, HOUR, 9)) == taken
        assert len(await take_late(connection, "welcome", NOW + 2 * HOUR, HOUR, 9)) == 1, "a process that died has not"


@pytest.mark.parametrize(
    ("entry", "visits"),
    [({"on": ORDERS, "when": GOLD}, [("bob", 1, 2, None)]), ({"on": ["transactions/transaction.refunded"]}, [])],
)
async def test_who_is_late_comes_in_by_the_version_that_mended_it(
    pool: Pool, entry: Mapping[str, Any], visits: Sequence[tuple[Any, ...]]
) -> None:
    """Unless that one takes nobody in by such an event any more."""
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": NOT_NOW}))
    for at in (NOW, NOW + 2 * SECOND):
        with suppress(Unavailable):
            await stage.happen(order(1), at=at)
    mended = replace(journey(entry=entry), version=2, approved_at=NOW + HOUR)
    again = Stage(pool, mended, tiers=Tiers({"bob": "gold"}))
    assert await again.look_again(2 * HOUR) == 1
    assert await again.visits() == visits
    assert await pool.fetchval("select count(*) from journey_entry_aside") == (0 if visits else 1)


async def test_an_entry_that_was_tried_in_vain_is_set_aside_until_somebody_retries(pool: Pool) -> None:
    """The fault is not one that passes."""
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": BROKEN}))
    for at in (NOW, NOW + 2 * SECOND):
        with suppress(Unavailable):
            await stage.happen(order(1), at=at)
    hours, tries = 0, 1
    while await aside(pool) == []:
        hours += 1
        tries += await stage.look_again(hours * HOUR)
        assert hours < 30
    (found,) = await aside(pool, "welcome")
    assert (found.what, found.members, found.fault, tries) == (What.ENTRY, 1, "KeyError: 'bob'", 15)
    assert (await journey_state(pool, NOW)).aside == {"welcome": 1}
    assert await stage.look_again(99 * HOUR) == 0
    stage.tiers.tiers = {"ann": "gold"}
    assert await put_back(pool, "welcome", NOW + 99 * HOUR) == 1
    assert await stage.look_again(99 * HOUR) == 1
    assert (await aside(pool), await pool.fetchval("select count(*) from journey_entry_aside")) == ([], 0)


async def test_members_stay_on_their_version_and_others_enter_the_newest(pool: Pool) -> None:
    one, other = journey(1), journey(2, at_end="stop")
    await Stage(pool, one).happen(order(1))
    await Stage(pool, one, other).happen(order(2, "ann"))
    assert await Stage(pool, one, other).visits() == [("ann", 1, 2, None), ("bob", 1, 1, None)]


async def test_nobody_enters_who_is_held_out_or_has_an_id_that_no_member_may_have(pool: Pool) -> None:
    await Stage(pool, journey(), holdout=100).happen(order(1))
    stage = Stage(pool, journey())
    await stage.happen(order(2, "=bob"), Event("transactions", "transaction.completed", "x", None, "SG", NOW, {}))
    assert await stage.visits() == []


async def test_why_a_member_did_not_enter_is_kept(pool: Pool) -> None:
    """With the value that its rule was looked at by; of strangers and of other countries nothing is kept."""
    stage = Stage(pool, journey(entry={"on": ORDERS, "when": GOLD}), tiers=Tiers({"bob": "silver", "ann": "gold"}))
    await stage.happen(
        order(1), order(2, "ann"), order(3, "ann", after=HOUR), order(4, "=cid"), order(5, "dot")._replace(country="ID")
    )
    rows = await pool.fetch("select member_id, why, seen::text from journey_refusal order by member_id")
    assert [tuple(row) for row in rows] == [
        ("ann", "it was inside once, and once is the most", "[]"),
        ("bob", "the rule of the entry does not hold", '[["member.tier eq gold","silver",false]]'),
    ]


async def test_an_event_that_is_read_again_is_told_as_it_was(pool: Pool) -> None:
    """Also of a member who was inside as often as it may, and whose rule does not hold any more."""
    gold: dict[str, Any] = {"entry": {"on": ORDERS, "when": GOLD}, "re_entry": {"again": "after_leaving", "at_most": 2}}
    stage = Stage(pool, journey(**gold, **nodes("done")), tiers=Tiers({"bob": "gold"}))
    events = [order(number, after=number * HOUR) for number in (1, 2)]
    for again in range(2):
        await stage.happen(*events, at=NOW + (3 + again) * HOUR)
    assert [visit for _, visit, *_ in await stage.visits()] == [1, 2]
    stage.tiers.tiers = {"bob": NOT_NOW}
    for seconds in (0, 2):
        with suppress(Unavailable):
            await stage.happen(*events, at=NOW + 5 * HOUR + seconds * SECOND)
    stage.tiers.tiers = {"bob": "silver"}
    await stage.happen(*events, at=NOW + 6 * HOUR)
    told = "select (select count(*) from journey_refusal), (select count(*) from journey_entry_aside)"
    assert tuple(await pool.fetchrow(told) or ()) == (0, 0)
    await stage.happen(order(3, after=3 * HOUR), order(1, after=HOUR), at=NOW + 7 * HOUR)
    assert await pool.fetchval("select count(*) from journey_refusal") == 1


async def test_a_journey_that_is_at_fault_uses_up_no_tries(pool: Pool) -> None:
    """Nobody waits for it either, and nobody else is late."""
    stage = Stage(pool, journey(entry={"on": ORDERS}))
    stage.cards = CardBook([])
    await stage.happen(order(1), order(2, "dot")._replace(country="ID"))
    late = "select member_id, tries, fault from journey_entry_aside"
    assert [tuple(row) for row in await pool.fetch(late)] == [
        ("bob", 0, "welcome@1: unknown-country: no rate card has the scope 'SG'")
    ]
    for hours in range(1, 30):
        assert await stage.look_again(hours * HOUR) == 0
    assert await pool.fetchval("select tries from journey_entry_aside") == 0
    stage.cards = CardBook(CARDS.values())
    assert await stage.look_again(30 * HOUR) == 1
    assert await stage.visits() == [("bob", 1, 1, None)]


@pytest.mark.parametrize(
    ("entry", "type_", "variables", "enters"),
    [
        ({"life": "tier.changed", "when": rule("var.to_tier", "eq", "gold")}, TIER, {"to_tier": "gold"}, True),
        ({"life": "tier.changed", "when": rule("var.to_tier", "eq", "gold")}, TIER, {"to_tier": "silver"}, False),
        ({"life": "first.award"}, EARNED, {"seq": 1}, True),
        ({"life": "first.award"}, EARNED, {"seq": 2}, False),
    ],
)
async def test_members_enter_at_a_point_in_their_lives(
    pool: Pool, entry: Mapping[str, Any], type_: tuple[str, str], variables: Mapping[str, Any], *, enters: bool
) -> None:
    stage = Stage(pool, journey(entry=entry, **nodes("day", day={"wait": {"for": "1d"}, "next": "done"})))
    await stage.happen(Event(*type_, "bob:GRP:1", "bob", "SG", NOW, variables))
    assert await stage.visits() == ([("bob", 1, 1, None)] if enters else [])
