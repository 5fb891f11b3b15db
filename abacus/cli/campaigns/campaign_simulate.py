"""`abacus campaigns simulate`: what a campaign would do for an event, condition by condition. Nothing is done."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from abacus.cli.campaigns.campaign_events import read_event
from abacus.cli.campaigns.family import campaign_desk
from abacus.cli.documents.chosen import chosen
from abacus.cli.downstreams.asked import services
from abacus.cli.terminal.answer import Answer, Shown, Table
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.shell import settings
from abacus.core.clock import SystemClock
from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import PlannedAction
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.facts import CampaignSubject, campaign_facts
from abacus.engage.campaigns.simulation import Simulated
from abacus.engage.downstreams.facts import AskService
from abacus.ledger.store.read import LedgerReader
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Pool
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.counters.reading.types import Counted, Lookup
from abacus.signals.counters.wiring import counts_now
from abacus.signals.events.types import Event, Value
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.members import MemberFacts
from abacus.signals.facts.types import FactRegistry, NotNow
from abacus.signals.places.locating import locate_now
from abacus.signals.segments.sets import segment_sets


async def simulate_campaign(
    which: Annotated[
        str, typer.Argument(metavar="NAME[@N]|FILE", help="A campaign, or the file of a draft.", show_default=False)
    ],
    event: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="A message of a topic, or an event as it is posted, in JSON; - is standard input."
        ),
    ],
    member: Annotated[str | None, typer.Option(metavar="ID", help="Another member than the event's.")] = None,
) -> Answer:
    """Say what a campaign would do for an event: each condition with its value, in the order looked at."""
    async with at_desk(campaign_desk) as (desk, at), services(at) as asking:
        beside = await desk.around()
        campaign = await chosen(which, desk, beside)
        at.check(Deed.SEE, campaign.country)
        posted = read_event(event, campaign, beside, await locate_now(at.pool))
        if member is not None:
            posted = posted._replace(member_id=member)
        facts, members = facts_now(at.pool, beside, asking.ask, adds_event=True), members_now(at.pool)
        simulated = await desk.simulate(campaign, posted, facts=facts, members=members, around=beside)
    return Answer(_document(campaign, posted, simulated), *_shown(campaign, posted, simulated))


async def not_asked(_: str, events: Sequence[Event]) -> Sequence[Value | NotNow | None]:
    """For a look at many events no service is asked: the values are missing."""
    return [None] * len(events)


def facts_now(
    connections: Pool, beside: Publications, ask: AskService, *, adds_event: bool = False
) -> FactRegistry[CampaignSubject]:
    """What rules look up, as it is now. For `adds_event` see `counters_now`."""
    counters = counters_now(connections, beside, adds_event=adds_event)
    segments = segment_sets(connections).look
    return campaign_facts(
        connections, members=members_now(connections), counters=counters, segments=segments, services=ask
    )


def counters_now(connections: Pool, beside: Publications, *, adds_event: bool = False) -> CounterFacts:
    """Counters as they are; with `adds_event`, as they are once they have counted the event."""

    async def counts(lookups: Sequence[Lookup]) -> Sequence[Counted]:
        return await counts_now(lookups, connections, settings(), beside.now)

    topic = settings().events_topic
    return CounterFacts(connections, lambda: beside, counts, events_topic=topic, adds_event=adds_event)


def members_now(connections: Pool) -> MemberFacts:
    tiers, accounts = MembershipStore(connections, SystemClock()), LedgerReader(connections)
    return MemberFacts(connections, tiers.tiers_of, accounts.standings_of)


def _document(campaign: Campaign, event: Event, simulated: Simulated) -> dict[str, Any]:
    document: dict[str, Any] = {
        "campaign": campaign.label,
        "event": event.key,
        "member_id": event.member_id,
        "conditions": [each._asdict() for each in simulated.seen],
        "against": simulated.against,
    }
    if (done := simulated.run) is not None:
        document |= {
            "outcome": done.outcome,
            "count": done.count,
            "variant": done.variant,
            "steps": done.steps,
            "points": done.amounts.points,
            "refused_by": str(done.refusal) if done.refusal else None,
            "actions": [_action(each) for each in simulated.actions],
        }
    return document


def _action(due: PlannedAction) -> dict[str, Any]:
    return {
        "key": due.key,
        "kind": due.kind,
        "receiver": due.receiver,
        "due_at": due.due_at,
        "document": orjson.loads(due.document),
    }


def _shown(campaign: Campaign, event: Event, simulated: Simulated) -> Iterator[str | Shown]:
    rows = [[each.condition, each.value, each.origin, "holds" if each.holds else "no"] for each in simulated.seen]
    if rows:
        yield Table(f"{campaign.label} for {event.key}", ["condition", "value", "from", "outcome"], rows)
    done = simulated.run
    if done is None:
        yield f"{campaign.label} does nothing: {simulated.against}"
        return
    which = f", at count {done.count}" if done.count is not None else ""
    arm = f", in the arm {done.variant}" if done.variant is not None else ""
    why = f" by {done.refusal}" if done.refusal is not None else ""
    yield f"{done.outcome}{why}{which}{arm}, {done.amounts.points} points"
    for each in simulated.actions:
        yield f"{_deed(each)} to {each.receiver} at {each.due_at:%Y-%m-%d %H:%M:%S} UTC: {each.key}"


def _deed(due: PlannedAction) -> str:
    if due.kind is not DeedKind.GRANT:
        return due.kind
    return due.kind + "".join(f" the {what} {name}" for what, name in orjson.loads(due.document).items())
