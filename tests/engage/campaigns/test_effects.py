"""What comes of events is recorded once, and limits hold to the last point, whoever decides at the same time."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.run import Run
from abacus.engage.campaigns.effects import Effects
from abacus.ledger.types.award_envelope import decode_envelope
from abacus.platform.postgres import Pool
from tests.engage.campaigns.offers import NOW, POINTS, all_matched, campaign, decide, matched, order
from tests.support.fixed_clock import FixedClock
from tests.support.slices import neighbour
from tests.support.waiting import waiting

DAY = timedelta(days=1)


@pytest.fixture
def effects(pool: Pool) -> Effects:
    return Effects(pool, FixedClock(NOW), slot=1)


def told(runs: Sequence[Run]) -> list[str]:
    return [f"{run.outcome}:{run.refusal}" if run.refusal else str(run.outcome) for run in runs]


async def actions(pool: Pool) -> list[tuple[Any, ...]]:
    rows = await pool.fetch("select key, kind, due_at, document from action order by key, number")
    return [tuple(row) for row in rows]


async def test_an_event_is_decided_once_however_often_it_comes(effects: Effects, pool: Pool) -> None:
    event = matched(campaign(), order(1))
    assert told(await decide(effects, [event, event])) == ["done"]
    assert await decide(effects, [event]) == []
    assert await decide(effects, [matched(campaign(version=2), order(1))]) == []
    ((key, kind, due_at, document),) = await actions(pool)
    assert (key, kind, due_at) == (
        "campaign:market:transactions:transaction.completed:mart:T-1:1",
        "award",
        NOW,
    )
    opened = decode_envelope(b'{"v":1,"awards":[%b]}' % document)
    (award,) = opened.awards
    assert (award.key, award.member_id, award.points, award.activity) == (key, "bob", 500, False)
    assert award.source == "campaign:market"
    assert json.loads(award.explanation)["campaign"] == "market@1"
    assert not opened.bad


@pytest.mark.parametrize(
    ("steps", "over", "times", "expected"),
    [
        ([{"at": 3, "do": [POINTS]}], None, [0, 0, 0, 0], "ccdc"),
        ([{"every": 2, "do": [POINTS]}], None, [0, 0, 0, 0], "cdcd"),
        ([{"at": 2, "do": [POINTS]}], "day", [0, 1, 1, 2, 2, 2], "ccdcdc"),
        ([{"at": 2, "do": [POINTS]}], "week", [0, 6, 7, 8], "cdcd"),
        ([{"at": 2, "do": [POINTS]}], "month", [0, 30, 29], "ccd"),
        # A window slides, is used up by the last step, and is completed by an event that comes late.
        ([{"at": 2, "do": [POINTS]}], "7d", [0, 6, 7, 15, 16], "cdccd"),
        ([{"at": 3, "do": [POINTS]}], "3d", [0, 3, 1, 2], "cccd"),
        ([{"at": 2, "do": [POINTS]}], "1d", [0, 1, 0.5], "ccd"),
    ],
)
async def test_steps_are_taken_at_their_counts(
    effects: Effects, steps: Any, over: str | None, times: Sequence[float], expected: str
) -> None:
    """Also when each event comes in a batch of its own, and the count is read again each time."""
    offer = campaign(steps=steps, over=over)
    events = [order(number, after=day * DAY) for number, day in enumerate(times)]
    assert "".join(each[0] for each in told(await decide(effects, all_matched(offer, events)))) == expected
    alone = [order(100 + number, "ann", day * DAY) for number, day in enumerate(times)]
    runs = [run for event in alone for run in await decide(effects, [matched(offer, event)])]
    assert "".join(each[0] for each in told(runs)) == expected


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"runs": {"overall": 3}}, "dddrrr"),
        ({"points": {"overall": 1600}}, "dddrrr"),
        ({"budget": {"overall": "8.00", "cost_of_point": "0.008"}}, "ddrrrr"),
        ({"runs": {"day": 2}}, "ddrddr"),
        ({"runs": {"member": 1}}, "dddrrr"),
        ({"runs": {"member_day": 1}}, "dddddd"),
        ({"runs": {"overall": 5, "day": 2, "member": 1}}, "ddrrrd"),
    ],
)
async def test_limits_hold(effects: Effects, limits: Any, expected: str) -> None:
    """Three members, one event each on two days."""
    offer = campaign(limits=limits)
    events = [order(number, neighbour(f"m{number % 3}"), (number // 3) * DAY) for number in range(6)]
    assert "".join(each[0] for each in told(await decide(effects, all_matched(offer, events)))) == expected


async def test_what_is_refused_names_its_limit_and_is_summed(effects: Effects, pool: Pool) -> None:
    offer = campaign(limits={"runs": {"overall": 1, "member": 1}})
    events = [order(1), order(2), order(3, neighbour("ann"))]
    assert told(await decide(effects, all_matched(offer, events))) == [
        "done",
        "refused:member.runs",
        "refused:overall.runs",
    ]
    rows = await pool.fetch("select outcome, events, points from campaign_sum order by outcome")
    assert [tuple(row) for row in rows] == [
        ("done", 1, 500),
        ("refused:member.runs", 1, 0),
        ("refused:overall.runs", 1, 0),
    ]


async def test_the_control_arm_gets_nothing_and_is_noted(effects: Effects, pool: Pool) -> None:
    offer = campaign(split={"control": 50, "a": 50})
    runs = await decide(effects, all_matched(offer, [order(number, f"m{number}") for number in range(40)]))
    arms = Counter((run.variant, str(run.outcome)) for run in runs)
    assert arms.keys() == {("control", "control"), ("a", "done")}
    assert len(await actions(pool)) == arms["a", "done"]
    exposed = await pool.fetchval("select count(*) from campaign_progress where scope = '' and events = 1")
    assert exposed == 40


async def test_a_raised_limit_gives_more_and_a_lowered_one_nothing(effects: Effects) -> None:
    def of(version: int, most: int) -> Campaign:
        return campaign(version, limits={"runs": {"overall": most}})

    events = [order(number, neighbour(f"m{number}_")) for number in range(6)]
    assert told(await decide(effects, all_matched(of(1, 1000), events[:2]))) == ["done"] * 2
    assert told(await decide(effects, all_matched(of(2, 3), events[2:5])))[:2] == ["done", "refused:overall.runs"]
    assert told(await decide(effects, all_matched(of(3, 4), events[5:]))) == ["done"]


async def test_a_campaign_is_exhausted_when_it_can_do_nothing_more(pool: Pool) -> None:
    """Not before, and not for what it does not limit. A slot that has enough is not filled again."""
    exhausted: list[str] = []

    async def note(campaigns: Sequence[Campaign]) -> None:
        exhausted.extend(each.name for each in campaigns)

    effects = Effects(pool, FixedClock(NOW), slot=1, on_exhausted=note)
    runs, points = campaign(limits={"runs": {"overall": 4}}), campaign(name="few", limits={"points": {"overall": 999}})
    for number in range(3):
        assert told(await decide(effects, [matched(runs, order(number))])) == ["done"]
    assert await pool.fetchval("select runs from limit_pot") == 3
    assert exhausted == []
    events = [order(number) for number in (7, 8)]
    assert told(await decide(effects, all_matched(runs, events))) == ["done", "refused:overall.runs"]
    assert exhausted == ["market"]
    assert told(await decide(effects, all_matched(points, events))) == ["done", "refused:overall.points"]
    assert exhausted == ["market", "few"]


async def test_that_a_campaign_is_exhausted_is_told_again_after_a_failure(pool: Pool) -> None:
    """The events of the batch are decided by then, and tell nothing new when they come again."""
    asked: list[list[str]] = []

    async def note(campaigns: Sequence[Campaign]) -> None:
        asked.append([each.name for each in campaigns])
        if len(asked) == 1:
            raise Unavailable("Postgres", "away")

    effects = Effects(pool, FixedClock(NOW), slot=1, on_exhausted=note)
    batch = all_matched(campaign(limits={"runs": {"overall": 1}}), [order(1), order(2)])
    with pytest.raises(Unavailable):
        await decide(effects, batch)
    assert await decide(effects, batch) == []
    assert await decide(effects, batch) == []
    assert asked == [["market"], ["market"], []]


async def test_what_was_done_without_a_limit_counts_when_there_is_one(effects: Effects) -> None:
    events = [order(number, neighbour(f"m{number}_")) for number in range(6)]
    free, runs = campaign(1), campaign(2, limits={"runs": {"overall": 3}})
    assert told(await decide(effects, all_matched(free, events[:2]))) == ["done"] * 2
    assert told(await decide(effects, all_matched(runs, events[2:4]))) == ["done", "refused:overall.runs"]
    points = campaign(3, limits={"points": {"overall": 2000}, "runs": {"day": 10}})
    assert told(await decide(effects, all_matched(points, events[4:]))) == ["done", "refused:overall.points"]


async def test_slots_of_a_batch_are_filled_together_and_each_by_its_own_limit(effects: Effects) -> None:
    """One campaign has enough, the next has something left, and the last nothing."""
    offers = [campaign(name=f"to_{most}", limits={"runs": {"overall": most}}) for most in (1000, 3, 1)]
    events = [order(number, neighbour(f"m{number}_")) for number in range(4)]
    batch = [each for offer in offers for each in all_matched(offer, events)]
    assert "".join(each[0] for each in told(await decide(effects, batch))) == "dddddddrdrrr"


async def test_what_is_refused_again_and_again_locks_nothing(effects: Effects, pool: Pool) -> None:
    """A limit that is used up is remembered; a version that raises it is decided as ever."""
    offer = campaign(limits={"runs": {"day": 2}})
    events = [order(number) for number in range(4)]
    assert told(await decide(effects, all_matched(offer, events)))[:2] == ["done", "done"]
    assert told(await decide(effects, [matched(offer, order(9))])) == ["refused:day.runs"]
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("select from limit_pot for update")
        more = [order(10), order(11)]
        refused = await asyncio.wait_for(decide(effects, all_matched(offer, more)), 10)
        assert told(refused) == ["refused:day.runs"] * 2
        tomorrow = asyncio.create_task(decide(effects, [matched(offer, order(12, after=DAY))]))
    assert told(await tomorrow) == ["done"]
    raised = campaign(2, limits={"runs": {"day": 3}})
    assert told(await decide(effects, all_matched(raised, [order(13), order(14)]))) == ["done", "refused:day.runs"]


async def test_a_member_that_another_process_has_begun_with_is_decided_again(effects: Effects, pool: Pool) -> None:
    """Nothing is there to be locked before."""
    offer = campaign(limits={"runs": {"member": 1}})
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(
            "insert into campaign_progress values ('bob', 'market', '', 1, 1, 500, 0, ''::bytea, null)"
        )
        deciding = asyncio.create_task(decide(effects, [matched(offer, order(1)), matched(offer, order(2, "ann"))]))
        await waiting(pool, deciding)
    assert told(await deciding) == ["refused:member.runs", "done"]
    assert await pool.fetchval("select count(*) from campaign_claim") == 2


async def test_an_event_that_another_process_claims_is_not_decided(effects: Effects, pool: Pool) -> None:
    """Nor is what it took from limits given to others."""
    offer = campaign(limits={"runs": {"overall": 2}})
    events = [order(1), order(2), order(3)]
    async with pool.acquire() as connection, connection.transaction():
        claim = matched(offer, events[1]).key
        await connection.execute("insert into campaign_claim values ($1, 'bob', 'market', 1, now())", claim)
        deciding = asyncio.create_task(decide(effects, all_matched(offer, events)))
        await waiting(pool, deciding)
    runs = await deciding
    assert [(run.matched.event.id, str(run.outcome)) for run in runs] == [("mart:T-1", "done"), ("mart:T-3", "done")]


@pytest.mark.parametrize("limit", [7, 100, 1000])
async def test_no_award_too_many_by_several_processes_at_once(pool: Pool, limit: int) -> None:
    """Four processes decide the same events and others, in batches, each in a slot of its own or in one."""
    offer = campaign(limits={"runs": {"overall": limit, "day": limit}, "points": {"overall": 500 * limit + 499}})
    events = [order(number, f"m{number % 40}") for number in range(300)]

    async def work(slot: int) -> int:
        process, done = Effects(pool, FixedClock(NOW), slot=slot % 3), 0
        for first in range(0, len(events), 30):
            begin = (first + 70 * slot) % len(events)
            runs = await decide(process, all_matched(offer, events[begin : begin + 30]))
            done += sum(run.outcome == "done" for run in runs)
        return done

    done = sum(await asyncio.gather(*(work(slot) for slot in range(4))))
    assert done == min(limit, len(events))
    assert await pool.fetchval("select count(*) from action") == done
    assert await pool.fetchval("select count(*) from campaign_claim") == len(events)
    used = await pool.fetchval(
        "select p.runs - coalesce(sum(s.runs), 0) from limit_pot p"
        " left join limit_slot s using (owner_kind, owner, period) where p.period = '' group by p.runs"
    )
    assert used == done
