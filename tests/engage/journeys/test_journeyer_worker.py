"""The worker `journeyer` on the real stack: from the event that lets a member in to points, a message and the end."""

from datetime import datetime, timedelta
from typing import Final

import pytest

from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.journeys.journey_store import JourneyStore
from tests.signals.segments.sets_of_members import load
from tests.support.house import House, completed, until
from tests.support.running_campaigns import just_now
from tests.support.running_journeys import DAYS, ORDERS, run_journey

WORKERS: Final = ("journeyer", "campaigner", "awarder")


class AheadClock:
    """The time, and how far it is ahead."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return SystemClock().now() + self.ahead


async def left(house: House) -> dict[str, str | None]:
    """Why members left, who were inside; None of members who are inside."""
    return dict(map(tuple, await house.pool.fetch("select member_id, why from seat order by member_id")))


@pytest.mark.long
async def test_a_member_enters_waits_gets_points_once_is_told_something_and_leaves(house: House) -> None:
    await run_journey(
        house,
        nodes={
            "hello": {
                "do": {"tell": {"en": "Welcome\n{{ event.amount }} is on its way"}},
                "next": "wait",
            },
            "wait": {"wait": {"for": "2d"}, "next": "gift"},
            "gift": {"do": {"award": {"points": 50}}, "next": "done"},
            "done": {"exit": "through"},
        },
    )
    order, clock = completed(1, member_id="ann", occurred_at=just_now()), AheadClock()
    await house.produce([order, order, completed(2, member_id="ann", occurred_at=just_now())])
    async with house.running(*WORKERS, clock=clock):

        async def is_told() -> bool:
            return bool(await house.pool.fetchval("select count(*) from notice"))

        await until(is_told)
        assert (await left(house), await house.transfers()) == ({"ann": None}, 0)
        clock.ahead = DAYS

        async def is_posted() -> bool:
            return bool(await house.transfers())

        await until(is_posted)
    assert await left(house) == {"ann": "through"}
    rows = await house.pool.fetch("select member_id, points, split_part(key, ':', 1) from transfer")
    assert [tuple(row) for row in rows] == [("ann", 50, "journey")]
    assert await house.pool.fetchval("select count(*) from notice") == 1
    assert await house.reasons() == {}


@pytest.mark.long
async def test_what_was_stopped_sends_nothing_more_and_its_members_leave(house: House) -> None:
    """Here a message and points were decided before, and wait for the campaigner."""
    await run_journey(
        house,
        nodes={
            "hello": {"do": {"tell": {"en": "Welcome\nHere you are"}}, "next": "gift"},
            "gift": {"do": {"award": {"points": 50}}, "next": "wait"},
            "wait": {"wait": {"for": "2d"}, "next": "done"},
            "done": {"exit": "through"},
        },
    )
    await house.produce([completed(1, member_id="ann", occurred_at=just_now())])
    async with house.running("journeyer"):

        async def is_inside() -> bool:
            return await left(house) == {"ann": None}

        await until(is_inside)
        change = Change("person:ann", SystemClock().now(), "enough")
        await JourneyStore(house.pool).move("welcome", 1, Act.END, change)

        async def has_left() -> bool:
            return await left(house) == {"ann": "the journey was ended"}

        await until(has_left)
    async with house.running("campaigner", "awarder"):

        async def is_refused() -> bool:
            return bool(await house.pool.fetchval("select count(*) = 2 from action where refused_at is not null"))

        await until(is_refused)
    rows = await house.pool.fetch("select distinct reason, done_at from action")
    assert [tuple(row) for row in rows] == [("the journey was ended", None)]
    assert (await house.transfers(), await house.pool.fetchval("select count(*) from notice")) == (0, 0)


@pytest.mark.long
async def test_an_event_ends_a_wait_and_its_time_ends_it_for_others(house: House) -> None:
    """Also where no event comes any more: the partitions of the topic are heard up to now."""
    await run_journey(
        house,
        nodes={
            "hello": {"wait": {"for": "2d", "event": {"on": ORDERS}}, "next": "again", "otherwise": "once"},
            "again": {"exit": "again"},
            "once": {"exit": "once"},
        },
    )
    clock = AheadClock()
    await house.produce([completed(number, member_id=name, occurred_at=just_now()) for number, name in _ANN_AND_BOB])
    async with house.running("journeyer", clock=clock):

        async def are_inside() -> bool:
            return await left(house) == {"ann": None, "bob": None}

        await until(are_inside)
        await house.produce([completed(3, member_id="ann", occurred_at=just_now())])

        async def ann_left() -> bool:
            return await left(house) == {"ann": "again", "bob": None}

        await until(ann_left)
        clock.ahead = DAYS

        async def bob_left() -> bool:
            return await left(house) == {"ann": "again", "bob": "once"}

        await until(bob_left)


_ANN_AND_BOB: Final = ((1, "ann"), (2, "bob"))


@pytest.mark.long
async def test_members_enter_out_of_a_segment_by_another_journey_and_by_their_first_award(house: House) -> None:
    await load(house.pool, "regulars", "ann", "bob")
    end = {"done": {"exit": "through"}}
    await run_journey(house, name="after", entry={"api": True}, begin="done", nodes=end)
    start = {"do": {"start": {"journey": "after"}}, "next": "done"}
    segment = {"segment": "regulars", "at": SystemClock().now().isoformat()}
    await run_journey(house, name="herd", entry=segment, begin="start", nodes={"start": start, **end})
    await run_journey(house, name="first", entry={"life": "first.award"}, begin="done", nodes=end)
    await house.produce([completed(1, member_id="cid", occurred_at=just_now())])
    async with house.running("calculator", "awarder", "relay", "journeyer"):

        async def are_through() -> bool:
            rows = await house.pool.fetch("select journey, member_id from seat where why = 'through' order by 1, 2")
            return [tuple(row) for row in rows] == [
                ("after", "ann"),
                ("after", "bob"),
                ("first", "cid"),
                ("herd", "ann"),
                ("herd", "bob"),
            ]

        await until(are_through)
    assert await house.reasons() == {}
