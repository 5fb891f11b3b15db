"""Events that are read together are decided together: in their order, in one transaction, each by what came before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from abacus.core.backoff import Backoff
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_index import compiled
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.engage.campaigns.effects import Effects
from abacus.engage.campaigns.evaluator import CampaignEvaluator, Candidate
from abacus.engage.campaigns.facts import ProgressFacts
from abacus.engage.campaigns.retry_queue import RetryQueue
from abacus.engage.campaigns.verdicts import Reached, Verdicts
from abacus.engage.downstreams.facts import ServiceFacts
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.ledger.store.read import LedgerReader
from abacus.platform.postgres import Pool
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.types import NOT_NOW, FactRegistry, NotNow
from tests.engage.campaigns.offers import AROUND, CARDS, MARKET, NOW, POINTS, order
from tests.support.fixed_clock import FixedClock
from tests.support.memory_quarantine import MemoryQuarantine
from tests.support.memory_queue import MemoryQueue
from tests.support.slices import home_of, neighbour

CLOCK = FixedClock(NOW)
WITH_SERVICE = replace(AROUND, externals={"risk": VariableType.INTEGER})
RISKY = {"operator": "gte", "lhs": "external.risk", "rhs": 5}


def before(side: str, operator: str, rhs: int | list[int]) -> dict[str, Any]:
    return {"operator": operator, "lhs": f"campaign.{side}", "rhs": rhs}


def both(*conditions: Mapping[str, Any]) -> dict[str, Any]:
    return {"operator": "and", "conditions": list(conditions)}


class House:
    """Decides as a process does; `risk` is what a service says of an event, by its number."""

    def __init__(self, pool: Pool, risk: Mapping[str, Value | NotNow] | None = None) -> None:
        self.asked: list[str] = []
        self.quarantine, self.queue = MemoryQuarantine(CLOCK), MemoryQueue("retries")
        policy = RetryPolicy(backoff=Backoff(first_s=0.0, longest_s=0.0))

        async def ask(_: str, events: Sequence[Event]) -> Sequence[Value | NotNow | None]:
            self.asked += [each.id for each in events]
            return [(risk or {}).get(each.id) for each in events]

        members = MemberFacts(pool, MembershipStore(pool, CLOCK).tiers_of, LedgerReader(pool).standings_of)
        facts = FactRegistry(members, ProgressFacts(pool), ServiceFacts(ask))
        retry_queue = RetryQueue(self.queue, self.quarantine, policy, events_topic="events", clock=CLOCK, rng=Random(1))
        self.verdicts = Verdicts(
            CampaignEvaluator(facts, members), Effects(pool, CLOCK, slot=1), retry_queue, self.quarantine, pool
        )

    async def decide(self, events: Sequence[Event], *offers: Campaign) -> Reached:
        armed = [compiled(offer, WITH_SERVICE)[0] for offer in offers]
        candidates = [
            Candidate(f"t:0:{event.id}", b"{}", event, each, CARDS["SG"]) for event in events for each in armed
        ]
        return await self.verdicts.reach(events, candidates)


def offer(**changes: Any) -> Campaign:
    return parse_campaign({**MARKET, **changes}, WITH_SERVICE).numbered(1)


def done(reached: Reached) -> list[str]:
    return [run.matched.event.id.removeprefix("mart:T-") for run in reached.runs if run.outcome == "done"]


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        (before("runs", "lt", 3), [0, 1, 2]),
        (before("points", "lt", 1500), [0, 1, 2]),
        (before("count", "lt", 2), [0, 1]),
        (before("runs", "eq", 0), [0]),
        (before("runs", "gte", 1), []),
        ({"operator": "not", "conditions": [before("runs", "between", [2, 9])]}, [0, 1]),
    ],
)
async def test_a_rule_asks_what_came_of_the_events_before(
    pool: Pool, when: dict[str, Any], expected: list[int]
) -> None:
    """Of the same batch, and of batches before; what was true is kept in the explanation."""
    market = offer(when=when, steps=[{"every": 1, "do": [POINTS]}])
    together = await House(pool).decide([order(number) for number in range(6)], market)
    assert done(together) == [str(number) for number in expected]
    one_by_one = [await House(pool).decide([order(number, "eve")], market) for number in range(10, 16)]
    assert [int(each) - 10 for reached in one_by_one for each in done(reached)] == expected
    kept = [run.matched.conditions for run in together.runs]
    assert kept == [run.matched.conditions for reached in one_by_one for run in reached.runs]
    assert await pool.fetchval("select count(*) from campaign_progress") == 2 * bool(expected)


async def test_a_batch_of_one_member_is_one_transaction(pool: Pool) -> None:
    market = offer(when=before("runs", "lt", 1000))
    assert len(done(await House(pool).decide([order(number) for number in range(300)], market))) == 300
    async with pool.acquire(schema=await home_of(pool, "bob")) as connection:
        assert await connection.fetchval("select count(distinct xmin::text) from campaign_claim") == 1
    assert await pool.fetchval("select runs from campaign_progress") == 300


async def test_the_last_of_a_budget_goes_by_the_order_of_the_events(pool: Pool) -> None:
    """Also where most are of one member, and ask what it has had."""
    members = [neighbour(name) for name in ("ann", "ann", "ann", "bob", "ann", "eve")]
    market = offer(when=before("runs", "lt", 1000), limits={"runs": {"overall": 75}})
    reached = await House(pool).decide([order(number, members[number % 6]) for number in range(150)], market)
    assert done(reached) == [str(number) for number in range(75)]
    refused = [str(run.refusal) for run in reached.runs[75:]]
    assert refused == ["overall.runs"] * 75


async def test_a_service_is_asked_only_while_it_may_matter(pool: Pool) -> None:
    """What a member has had only rises: who has had enough has had enough."""
    new = offer(when=both(before("runs", "lt", 1), RISKY))
    house = House(pool, {f"mart:T-{number}": 7 for number in (1, 2, 3, 4)})
    assert done(await house.decide([order(number) for number in range(3)], new)) == ["1"]
    assert house.asked == ["mart:T-0", "mart:T-1", "mart:T-2"]
    assert done(await house.decide([order(number) for number in range(3, 6)], new)) == []
    assert len(house.asked) == 3


async def test_who_comes_next_in_a_group_gets_what_a_limit_refuses(pool: Pool) -> None:
    """At once, in the same batch, and however often that happens."""
    first = offer(name="first", priority=2, exclusive="g", limits={"runs": {"day": 2}})
    second = offer(name="second", priority=1, exclusive="g", limits={"runs": {"member": 3}})
    third = offer(name="third", exclusive="g")
    house = House(pool)
    for begin in (0, 4, 0):  # the last are read again
        await house.decide([order(number) for number in range(begin, begin + 4)], third, second, first)
    rows = await pool.fetch("select campaign, outcome, events from campaign_sum order by 1, 2")
    assert [tuple(row) for row in rows] == [
        ("first", "done", 2),
        ("first", "refused:day.runs", 6),
        ("second", "done", 3),
        ("second", "refused:member.runs", 3),
        ("third", "done", 3),
    ]


async def test_a_group_waits_for_the_one_that_may_get_the_event(pool: Pool) -> None:
    """With those before it that a limit refuses; nobody waits where the event is taken before."""
    first = offer(name="first", priority=2, exclusive="g", limits={"runs": {"overall": 1}})
    waits = offer(name="waits", priority=1, exclusive="g", when=RISKY)
    third = offer(name="third", exclusive="g")
    house = House(pool, {f"mart:T-{number}": NOT_NOW for number in (0, 1)})
    reached = await house.decide([order(number) for number in range(3)], first, waits, third)
    assert [(run.matched.campaign.name, run.matched.event.id) for run in reached.runs if run.outcome == "done"] == [
        ("first", "mart:T-0"),
        ("third", "mart:T-2"),
    ]
    assert [(each.armed.campaign.name, each.event.id) for each in reached.later] == [
        (name, "mart:T-1") for name in ("first", "waits", "third")
    ]
    now = House(pool, {"mart:T-1": 7})
    again = await now.decide([order(1)], first, waits, third)
    assert [(run.matched.campaign.name, str(run.outcome)) for run in again.runs] == [
        ("first", "refused"),
        ("waits", "done"),
    ]


async def test_what_the_card_cannot_price_is_set_aside_if_the_campaign_gets_it(pool: Pool) -> None:
    """And not where another one of the group does, or its conditions do not hold."""
    first = offer(
        name="first", priority=1, exclusive="g", when={"operator": "eq", "lhs": "event.id", "rhs": "mart:T-1"}
    )
    double = offer(name="double", exclusive="g", steps=[{"do": [{"award": {"multiple": "2"}}]}])
    unpriced = [order(number, vertical="moon") for number in (1, 2)]
    reached = await House(pool).decide(unpriced, first, double)
    assert done(reached) == ["1"]
    assert [each.origin for each in reached.aside] == ["t:0:mart:T-2#double"]


async def test_of_messages_that_contradict_each_other_the_first_is_the_event(pool: Pool) -> None:
    """For all campaigns, also for one that the first is nothing to."""
    food, rides = (
        offer(name=vertical, when={"operator": "eq", "lhs": "var.vertical", "rhs": vertical})
        for vertical in ("food", "rides")
    )
    both = [order(1, vertical="food"), order(1, vertical="rides")]
    other = [order(2, vertical="mart"), order(2, vertical="rides"), order(2, vertical="food")]
    again = [order(3, vertical="rides"), order(3, vertical="rides")]
    reached = await House(pool).decide([*both, *other, *again], food, rides)
    assert [(run.matched.campaign.name, run.matched.event.id) for run in reached.runs] == [
        ("food", "mart:T-1"),
        ("rides", "mart:T-3"),
    ]
