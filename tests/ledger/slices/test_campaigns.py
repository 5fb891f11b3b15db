"""Campaigns of a ledger in slices: what they decide lies with its member, limits of all hold over all slices, and a
slice that is away keeps nobody else waiting.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from random import Random
from typing import Final

import asyncpg
import pytest

from abacus.core.backoff import Backoff
from abacus.core.errors import Unavailable
from abacus.engage.actions.action_runner import ActionRunner
from abacus.engage.actions.action_store import ActionStore
from abacus.engage.actions.calls import CallOutbox, call_again
from abacus.engage.actions.receivers import to_members
from abacus.engage.actions.types import DueAction, Refusals
from abacus.engage.campaigns.decide.campaign import OWNER_KIND, Campaign
from abacus.engage.campaigns.decide.campaign_index import compiled
from abacus.engage.campaigns.decide.deferred import decode_deferred
from abacus.engage.campaigns.effects import Decisions, Effects
from abacus.engage.campaigns.evaluator import CampaignEvaluator, Candidate, Evaluation
from abacus.engage.campaigns.facts import ProgressFacts
from abacus.engage.campaigns.retry_queue import RetryQueue
from abacus.engage.campaigns.seen import without_contradictions
from abacus.engage.campaigns.sums import done_before
from abacus.engage.campaigns.verdicts import put_off
from abacus.engage.campaigns.wiring import campaign_news
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.engage.limits.decide.pots import Limited, Pot, pot_of
from abacus.engage.limits.pot_store import PotStore
from abacus.engage.notify.notices import Notices
from abacus.engage.notify.renderer import Renderer
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.ledger.store.read import LedgerReader
from abacus.platform.delivery.types import Answer, DeliveryOutcome, Room, Said, Settled, Verdict
from abacus.platform.health import WorkerHealth
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.types import FactRegistry
from tests.engage.campaigns.offers import AROUND, CARDS, NOW, POINTS, all_matched, campaign, decide, matched, order
from tests.ledger.slices.eight import EIGHT, FIRST, MEMBERS, SECOND, bring_back, take_away
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
from tests.support.memory_quarantine import MemoryQuarantine
from tests.support.memory_queue import MemoryQueue

CLOCK: Final = FixedClock(NOW)
LATER: Final = FixedClock(NOW + timedelta(minutes=1))
AWAY: Final = 3
ROOM: Final = Room(6, 6, {})
TELL: Final = {"tell": {"en": "Thank you\nYou came back."}}
CALL: Final = {"call": "crm"}
CRM: Final = {"crm": Downstream("crm", DownstreamKind.WEBHOOK, "https://crm.example/")}
ONE_EACH: Final = [order(number, member) for number, member in enumerate(MEMBERS)]


@pytest.fixture
async def away(pool: Pool, owner: Connection) -> None:
    """The server of a slice, as far as campaigns, tiers and accounts go."""
    tables = ("campaign_claim", "action", "campaign_progress", "limit_slot", "account_tier", "account")
    await take_away(owner, AWAY, *tables)


@pytest.fixture
async def many(url: str) -> AsyncIterator[Pool]:
    """For several processes at once, without the planning that wants no values."""
    opened = await open_pool(url, size=8)
    yield opened
    await opened.close()


@pytest.fixture(params=[(FIRST, MEMBERS[AWAY]), (MEMBERS[AWAY], FIRST)], ids=["others first", "others last"])
async def with_one_key(request: pytest.FixtureRequest, pool: Pool) -> list[Candidate]:
    """Events that contradict each other, about members of two slices; the key was entered for the one that is away."""
    ready, _ = compiled(campaign(), AROUND)
    contradicting = [Candidate("t:0:1", b"{}", order(1, member), ready, CARDS["SG"]) for member in request.param]
    await pool.execute("insert into key_slice values ($1, $2)", contradicting[0].key, AWAY)
    return contradicting


MARKET: Final = pot_of(campaign().owner)


def left_of(most: int) -> dict[Pot, Limited]:
    offer = campaign(limits={"runs": {"overall": most}})
    return {pot_of(offer.owner): Limited(offer.limits.overall, 1)}


def candidates_of(offer: Campaign) -> list[Candidate]:
    ready, _ = compiled(offer, AROUND)
    return [Candidate("t:0:1", b"{}", event, ready, CARDS["SG"]) for event in ONE_EACH]


async def unguarded(actions: Sequence[DueAction]) -> Refusals:
    """Where nothing has a guard."""
    assert all(each.event is None for each in actions)
    return Refusals({}, ())


async def all_turns(_: str, wanted: int) -> int:
    return wanted


async def done_once(pool: Pool, actions: ActionStore) -> None:
    """A process that does messages, until nothing is left that it could do."""
    stop, health = asyncio.Event(), WorkerHealth("campaigner")
    renderer = Renderer()
    hand = to_members(Notices(pool, LATER), renderer, {OWNER_KIND: campaign_news})
    given = {"pool": pool, "slice_map": EIGHT, "clock": LATER, "health": health}
    runner = ActionRunner("messages", hand, actions, unguarded, all_turns, **given)
    working = asyncio.create_task(runner.run(stop))

    async def nothing_waits() -> bool:
        return not (await actions.backlog("messages")).deliveries

    await until(nothing_waits)
    stop.set()
    await working
    await renderer.close()


async def test_each_lies_with_its_member(pool: Pool, owner: Connection) -> None:
    offer = campaign(steps=[{"at": 1, "do": [POINTS]}], limits={"runs": {"member": 2}})
    runs = await decide(Effects(pool, CLOCK, slot=1), all_matched(offer, ONE_EACH))
    assert [run.matched.member_id for run in runs] == MEMBERS
    for number, member in enumerate(MEMBERS):
        for table in ("campaign_claim", "campaign_progress", "action"):
            rows = await owner.fetch(f"select distinct member_id from slice_{number}.{table}")
            assert [row[0] for row in rows] == [member]
        assert await owner.fetchval(f"select sum(events) from slice_{number}.campaign_sum") == 1


async def test_a_slice_refuses_members_of_another(pool: Pool) -> None:
    async with pool.acquire(schema=EIGHT.schema_of(1)) as connection:
        with pytest.raises(asyncpg.CheckViolationError, match="a member of another slice is no member of slice_1"):
            await connection.execute("insert into campaign_claim values ('k', $1, 'market', 1, now())", FIRST)


@pytest.mark.long
@pytest.mark.parametrize("limit", [3, 61, 1000])
async def test_a_limit_of_all_holds_over_all_slices(many: Pool, pool: Pool, limit: int) -> None:
    """Three processes decide the same events and others, and everything that is left is given out."""
    offer = campaign(limits={"runs": {"overall": limit, "day": limit}, "points": {"overall": 500 * limit + 499}})
    events = [order(number, f"m{number % 50}") for number in range(240)]

    async def work(slot: int) -> int:
        process, done = Effects(many, CLOCK, slot=slot), 0
        for first in range(0, len(events), 30):
            begin = (first + 70 * slot) % len(events)
            runs = await decide(process, all_matched(offer, events[begin : begin + 30]))
            done += sum(run.outcome == "done" for run in runs)
        return done

    assert sum(await asyncio.gather(*map(work, range(3)))) == min(limit, len(events))
    pots = PotStore(pool, 1, done_before)
    for left in (
        await pots.left(left_of(limit)),
        await PotStore(pool, 1, done_before).exactly_left(left_of(limit)),
    ):
        assert left == {MARKET: (limit - min(limit, len(events)), 0, 0)}


async def test_an_event_that_comes_again_with_another_member_was_decided_before(pool: Pool) -> None:
    effects, offer = Effects(pool, CLOCK, slot=1), campaign(limits={"runs": {"overall": 5}})
    assert len(await decide(effects, [matched(offer, order(1, FIRST))])) == 1
    again = [matched(offer, order(1, member)) for member in (SECOND, FIRST)]
    assert [await decide(effects, [each]) for each in again] == [[], []]
    assert (await PotStore(pool, 1, done_before).exactly_left(left_of(5)))[MARKET].runs == 4


async def test_of_events_with_one_key_the_one_in_the_slice_of_the_key_is_decided(
    pool: Pool, with_one_key: Sequence[Candidate]
) -> None:
    """In whatever order they come; a process before may have entered the key, and not come to decide."""
    offer = campaign()
    runs = await decide(Effects(pool, CLOCK, slot=1), all_matched(offer, [each.event for each in with_one_key]))
    assert [run.matched.member_id for run in runs] == [MEMBERS[AWAY]]


async def test_of_messages_that_contradict_each_other_the_one_in_the_slice_of_the_key_is_the_event(
    pool: Pool, with_one_key: Sequence[Candidate]
) -> None:
    """Or nobody would ever be decided for; where no key was entered, it is the first."""
    events = [each.event for each in with_one_key]
    (chosen,) = await without_contradictions(pool, events, with_one_key)
    assert chosen.subject.member_id == MEMBERS[AWAY]
    new = [each._replace(event=each.event._replace(id="mart:T-2")) for each in with_one_key]
    assert await without_contradictions(pool, [each.event for each in new], new) == new[:1]


@pytest.mark.usefixtures("away")
async def test_of_events_with_one_key_the_one_in_the_slice_of_the_key_is_deferred(
    pool: Pool, with_one_key: Sequence[Candidate]
) -> None:
    """The other is decided before already, and would be all that came back."""
    batch = all_matched(campaign(), [each.event for each in with_one_key])
    decided = await Effects(pool, CLOCK, slot=1).decide(batch)
    later = put_off(with_one_key, Evaluation(batch, []), decided)
    assert [each.subject.member_id for each in later] == [MEMBERS[AWAY]]
    both_wait = put_off(with_one_key, Evaluation([], with_one_key), Decisions([], []))
    assert await deferred_members(later) == [MEMBERS[AWAY]]
    assert sorted(await deferred_members(both_wait)) == sorted([FIRST, MEMBERS[AWAY]])


async def deferred_members(later: Sequence[Candidate]) -> list[str]:
    """The members of the events that come back from the retry queue."""
    queue, at_once = MemoryQueue("retries"), RetryPolicy(backoff=Backoff(first_s=0.0, longest_s=0.0))
    retry_queue = RetryQueue(queue, MemoryQuarantine(CLOCK), at_once, events_topic="events", clock=CLOCK, rng=Random(1))
    await retry_queue.put(later)
    return [json.loads(each.event)["member_id"] for got in await queue.receive() for each in decode_deferred(got.body)]


async def test_what_was_done_in_all_slices_counts_when_there_is_a_limit(pool: Pool) -> None:
    effects = Effects(pool, CLOCK, slot=1)
    await decide(effects, all_matched(campaign(1), ONE_EACH))
    offer = campaign(2, limits={"runs": {"overall": 9}})
    runs = await decide(effects, all_matched(offer, [order(100 + n, member) for n, member in enumerate(MEMBERS)]))
    assert [str(run.outcome) for run in runs].count("done") == 1


@pytest.mark.usefixtures("away")
async def test_events_of_a_slice_that_is_away_are_not_decided(pool: Pool) -> None:
    """Also when there are no others: somebody else's may come next."""
    effects, batch = Effects(pool, CLOCK, slot=1), all_matched(campaign(), ONE_EACH)
    decided = await effects.decide(batch)
    assert [run.matched.member_id for run in decided.runs] == [each for each in MEMBERS if each != MEMBERS[AWAY]]
    assert decided.waiting == [batch[AWAY]]
    assert await effects.decide([batch[AWAY]]) == ([], [batch[AWAY]], [])


async def test_an_error_that_passes_is_no_server_that_is_away(pool: Pool, owner: Connection) -> None:
    """Such as a deadlock: nothing is put off, because the batch can be tried again at once."""
    await owner.execute(f"alter table slice_{AWAY}.campaign_sum rename to hidden")
    await owner.execute("drop view public.campaign_sum")
    with pytest.raises(Unavailable):
        await Effects(pool, CLOCK, slot=1).decide(all_matched(campaign(), ONE_EACH))


@pytest.mark.usefixtures("away")
async def test_what_is_in_the_hand_of_a_slice_that_is_away_is_not_given_to_others(pool: Pool) -> None:
    """The last of a limit is given out when all slices can be asked."""
    offer = campaign(limits={"runs": {"overall": 3}})
    decided = await Effects(pool, CLOCK, slot=1).decide(all_matched(offer, ONE_EACH))
    assert 1 <= len(decided.runs) <= 3
    assert {str(run.outcome) for run in decided.runs} == {"done"}
    assert len(decided.waiting) == 8 - len(decided.runs)
    with pytest.raises(Unavailable):
        await PotStore(pool, 1, done_before).exactly_left(left_of(3))


@pytest.mark.usefixtures("away")
async def test_values_of_a_slice_that_is_away_cannot_be_told(pool: Pool) -> None:
    members = MemberFacts(pool, MembershipStore(pool, CLOCK).tiers_of, LedgerReader(pool).standings_of)
    facts = FactRegistry(members, ProgressFacts(pool))
    rules = [("member.balance", "lt", 5), ("member.tier", "eq", "member"), ("campaign.runs", "lt", 1)]
    offers = [campaign(when={"operator": how, "lhs": side, "rhs": to}) for side, how, to in rules]
    for offer in (*offers, campaign(steps=[{"do": [{"award": {"multiple": "2"}}]}])):
        candidates = candidates_of(offer)
        judged = await CampaignEvaluator(facts, members).evaluate(candidates)
        assert judged.later == [candidates[AWAY]]
        assert [each.member_id for each in judged.matched] == [each for each in MEMBERS if each != MEMBERS[AWAY]]


async def test_actions_of_all_slices_are_done(pool: Pool, owner: Connection) -> None:
    """A message is entered in the transaction that ends its action."""
    await decide(Effects(pool, CLOCK, slot=1), all_matched(campaign(steps=[{"do": [TELL]}]), ONE_EACH))
    actions = ActionStore(pool, LATER)
    assert (await actions.backlog("messages")).deliveries == 8
    await done_once(pool, actions)
    assert (await actions.backlog("messages")).deliveries == 0
    for number, member in enumerate(MEMBERS):
        assert await owner.fetchval(f"select array_agg(member_id) from slice_{number}.notice") == [member]


async def test_the_others_are_done_while_a_slice_is_away(pool: Pool, owner: Connection) -> None:
    await decide(Effects(pool, CLOCK, slot=1), all_matched(campaign(steps=[{"do": [TELL]}]), ONE_EACH))
    await take_away(owner, AWAY, "action")
    actions = ActionStore(pool, LATER)
    assert (await actions.backlog("messages")).deliveries == 7
    await done_once(pool, actions)
    assert (await actions.backlog("messages")).deliveries == 0
    await bring_back(owner, AWAY, "action")
    await done_once(pool, actions)
    assert [await owner.fetchval(f"select count(*) from slice_{number}.notice") for number in range(8)] == [1] * 8


async def test_calls_of_all_slices_are_taken_within_one_room(pool: Pool) -> None:
    await decide(Effects(pool, CLOCK, slot=1), all_matched(campaign(steps=[{"do": [CALL]}]), ONE_EACH))
    calls = CallOutbox(pool, LATER, lambda: CRM)
    first = await calls.take(ROOM)
    assert (len(first), len(await calls.take(ROOM.without(first)))) == (6, 0)
    assert {call.action.member_id for call in [*first, *await calls.take(ROOM)]} == {*MEMBERS}
    assert (await calls.backlogs())["webhook:crm"].deliveries == 0
    gone = Verdict(DeliveryOutcome.GIVEN_UP, reason="away for days")
    await calls.settle([Settled(call, Answer(Said.FAILED), gone) for call in first])
    assert await call_again(pool, "crm", LATER.now()) == 6
    assert (await calls.backlogs())["webhook:crm"].deliveries == 6


async def test_calls_of_a_slice_that_is_away_are_made_again(pool: Pool, owner: Connection) -> None:
    await decide(Effects(pool, CLOCK, slot=1), all_matched(campaign(steps=[{"do": [CALL]}]), ONE_EACH))
    calls = CallOutbox(pool, LATER, lambda: CRM)
    taken = await calls.take(Room(8, 8, {}))
    await take_away(owner, AWAY, "action")
    await calls.settle([Settled(call, Answer(Said.ACCEPTED), Verdict(DeliveryOutcome.DELIVERED)) for call in taken])
    await bring_back(owner, AWAY, "action")
    over = CallOutbox(pool, FixedClock(NOW + timedelta(minutes=5)), lambda: CRM)
    assert [call.action.member_id for call in await over.take(Room(8, 8, {}))] == [MEMBERS[AWAY]]
