"""The worker `campaigner` on the real stack: from a transaction to points, messages and events."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from pyroaring import FrozenBitMap

from abacus.core.clock import SystemClock
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.report import report
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.proof.decide.recheck import Recheck
from abacus.proof.verify import verify
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import How
from tests.support.house import House, completed, until
from tests.support.running_campaigns import just_now, run_campaign

POINTS = {"award": {"points": 500}}


async def points_of(house: House) -> Mapping[str, int]:
    """The points that each member has of campaigns."""
    rows = await house.pool.fetch(
        "select member_id, sum(points)::bigint as points from transfer where starts_with(key, 'campaign:') group by 1"
    )
    return {row["member_id"]: row["points"] for row in rows}


def orders(member_id: str, *numbers: int, **changes: Any) -> list[dict[str, Any]]:
    return [completed(number, member_id=member_id, occurred_at=just_now(), **changes) for number in numbers]


@pytest.mark.long
async def test_every_third_ride_earns_points_once_and_a_message_comes_before(house: House) -> None:
    words = {"en": "One more ride\n{{event.amount}} {{event.currency}} were paid, {{count}} rides are done."}
    await run_campaign(
        house,
        when={"operator": "eq", "lhs": "var.vertical", "rhs": "rides"},
        steps=[{"at": 2, "do": [{"tell": words}]}, {"every": 3, "do": [POINTS]}],
        limits={"runs": {"member": 10}},
    )
    sent = [*orders("ann", 1, 2, 3), *orders("bob", 4, 5), *orders("eve", 6, 7, 8, vertical="food")]
    await house.produce([*sent, *sent, *orders("ann", 9, 10, 11)])
    async with house.running("calculator", "awarder", "campaigner", "notifier"):

        async def posted() -> bool:
            told = await house.pool.fetchval("select count(*) from notification where sent_at is not null")
            return (await points_of(house)).get("ann") == 1000 and told >= 2

        await until(posted)
    assert await points_of(house) == {"ann": 1000}
    rows = await house.pool.fetch("select member_id, part from notice where part::text like '%campaign%' order by 1")
    assert [(row["member_id"], json.loads(row["part"])["words"]["en"]["text"]) for row in rows] == [
        ("ann", "10.00 SGD were paid, 2 rides are done."),
        ("bob", "10.00 SGD were paid, 2 rides are done."),
    ]
    assert await house.reasons() == {}


@pytest.mark.long
async def test_points_by_formula_are_explained_and_recomputed(house: House) -> None:
    """A multiple of what the transaction earned, and the formula with an own multiplier."""
    await run_campaign(house, name="double", steps=[{"do": [{"award": {"multiple": "1.5"}}]}])
    await run_campaign(house, name="own", steps=[{"do": [{"award": {"formula": {"vertical": "10"}}}]}])
    await house.produce(orders("ann", 1, amount="10.50"))
    async with house.running("calculator", "awarder", "campaigner"):

        async def posted() -> bool:
            return await house.transfers() == 3

        await until(posted)
    rows = await house.pool.fetch("select key, points, explanation from transfer order by key")
    base, *ours = [(row["key"].split(":")[1], row["points"], json.loads(row["explanation"])) for row in rows][::-1]
    earned = base[1]
    explained = {name: (points, explanation["formula"]["multiple"]) for name, points, explanation in ours}
    assert explained == {"own": (210, "1"), "double": (earned * 3 // 2, "1.5")}
    book = CardBook(await CardStore(house.pool).all())
    assert (await verify(house.pool, Recheck(book))).faults == []


async def test_what_is_looked_up_decides(house: House) -> None:
    """The balance and the tier of the member, and what it has had of the campaign."""
    rich = {"operator": "gte", "lhs": "member.balance", "rhs": 15}
    new = {"operator": "lt", "lhs": "campaign.runs", "rhs": 1}
    member = {"operator": "eq", "lhs": "member.tier", "rhs": "member"}
    await run_campaign(house, when={"operator": "and", "conditions": [rich, new, member]}, steps=[{"do": [POINTS]}])
    async with house.running("calculator", "awarder", "campaigner"):
        for number in range(1, 5):
            await house.produce(orders("ann", number))

            async def posted(number: int = number) -> bool:
                return await house.transfers() >= number + (number > 1)

            await until(posted)
    assert await points_of(house) == {"ann": 500}


async def test_members_of_a_segment_alone(house: House) -> None:
    """One who comes into it while the campaign runs gets points from then on."""
    store, numbers = SegmentStore(house.pool), MemberNumbers(house.pool)

    async def load(*members: str) -> None:
        given = FrozenBitMap((await numbers.give(members)).values())
        author = Author("person:ann", datetime.now(UTC))
        await store.change("regulars", How.LOAD, given, author, country=None)

    await load("ann", "eve")
    is_in = {"operator": "eq", "lhs": "segment.regulars", "rhs": True}
    await run_campaign(house, when=is_in, steps=[{"do": [POINTS]}])
    async with house.running("calculator", "awarder", "campaigner"):
        await house.produce([*orders("ann", 1), *orders("bob", 2)])

        async def first() -> bool:
            return await house.transfers() == 3

        await until(first)
        await load("ann", "bob")

        async def is_given() -> bool:
            await house.produce(orders("bob", await house.transfers() + 10))
            return "bob" in await points_of(house)

        await until(is_given)
    assert (await points_of(house))["ann"] == 500


async def test_a_members_limit_that_nobody_reaches_is_not_counted(house: House) -> None:
    """No row is kept for a member, and other limits of the campaign hold."""
    for name, runs in (("counted", 99), ("uncounted", 100)):
        limits = {"runs": {"overall": 2, "member": runs}}
        await run_campaign(house, name=name, steps=[{"do": [POINTS]}], limits=limits)
    await house.produce(orders("ann", 1, 2, 3))
    settings = house.settings.model_copy(update={"campaign_uncounted_from": 100})
    async with house.running("campaigner", "awarder", settings=settings):

        async def posted() -> bool:
            return await house.transfers() == 4

        await until(posted)
    rows = await house.pool.fetch("select campaign, runs from campaign_progress")
    assert [tuple(row) for row in rows] == [("counted", 2)]


async def test_the_report_tells_how_many_events_were_seen(house: House) -> None:
    """Also those that no condition holds for, and none of another type or country."""
    mart = {"operator": "eq", "lhs": "var.vertical", "rhs": "mart"}
    await run_campaign(house, when=mart, steps=[{"do": [POINTS]}])
    await house.produce([*orders("ann", 1, 2, 3), *orders("bob", 4, vertical="mart")])
    async with house.running("campaigner", "awarder"):

        async def posted() -> bool:
            return await house.transfers() == 1

        await until(posted)

        async def seen() -> bool:
            return bool(await house.pool.fetchval("select sum(events) = 4 from campaign_seen"))

        await until(seen)
    (campaign,) = await CampaignStore(house.pool).in_force(SystemClock().now())
    found = await report(house.pool, campaign)
    assert (sum(found.seen.values()), sum(line.events for line in found.days)) == (4, 1)


async def test_an_event_is_decided_after_what_came_of_those_before_it(house: House) -> None:
    """They are read together, and each asks what the member has had so far."""
    new = {"operator": "lt", "lhs": "campaign.runs", "rhs": 2}
    await run_campaign(house, when=new, steps=[{"do": [POINTS]}])
    await house.produce([*orders("ann", *range(1, 8)), *orders("bob", 8, 9, 10), *orders("ann", 11)])
    async with house.running("campaigner", "awarder"):

        async def seen() -> bool:
            return bool(await house.pool.fetchval("select sum(events) = 11 from campaign_seen"))

        await until(seen)

        async def posted() -> bool:
            return await house.transfers() == 4

        await until(posted)
    assert await points_of(house) == {"ann": 1000, "bob": 1000}
