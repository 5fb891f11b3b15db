"""`abacus journeys simulate`: one member's way through a journey, decision by decision. Nothing is done."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from abacus.cli.campaigns.campaign_events import event_of, read_message
from abacus.cli.campaigns.campaign_simulate import counters_now, members_now
from abacus.cli.documents.chosen import chosen
from abacus.cli.downstreams.asked import services
from abacus.cli.journeys.decisions import conditions
from abacus.cli.journeys.entries import Context, EnteredAt, Which, entry_of, nowhere
from abacus.cli.journeys.family import journey_desk
from abacus.cli.terminal.answer import Answer, Shown
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.shell import moment
from abacus.core.errors import Refused
from abacus.core.fields import LATEST
from abacus.engage.journeys.decide.context import read_context
from abacus.engage.journeys.decide.course import Leg
from abacus.engage.journeys.decide.deed_reader import do_document
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.visit import Left, Waiting
from abacus.engage.journeys.facts import journey_facts
from abacus.engage.journeys.simulation import Simulated, simulate
from abacus.people.types.deed import Deed
from abacus.signals.events.decide.whereabouts import Locate
from abacus.signals.events.types import Event
from abacus.signals.places.locating import locate_now
from abacus.signals.segments.sets import segment_sets


async def simulate_journey(
    which: Which,
    member: Annotated[str | None, typer.Option(metavar="ID", help="The member; else the event's.")] = None,
    event: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The event of the entry, in JSON; - is standard input.")
    ] = None,
    context: Context = None,
    when: EnteredAt = None,
    then: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An array of events that are assumed to happen afterwards, in JSON."),
    ] = None,
) -> Answer:
    """Say which way a member would go: each decision with its value, what is done, and when each wait is over.

    Waits are over by the clock, but for events of `--then`. What is known of the member stays as it is now.
    """
    async with at_desk(journey_desk) as (desk, at), services(at) as asking:
        beside, locate = await desk.around(), await locate_now(at.pool)
        journey = await chosen(which, desk, beside)
        at.check(Deed.SEE, journey.country)
        enters_at = None if when is None else moment("--at", when)
        entry = entry_of(journey, beside, locate, event, member, enters_at, desk.now())
        given = read_context({} if context is None else read_message(context), journey.context)
        facts = journey_facts(
            at.pool,
            members=members_now(at.pool),
            counters=counters_now(at.pool, beside.beside),
            segments=segment_sets(at.pool),
            services=asking.ask,
            been_in=nowhere,
        )
        assumed = () if then is None else _assumed(journey, beside, locate, then, entry)
        simulated = await simulate(journey, entry, given, assumed, facts=facts, around=beside)
    return Answer(_document(journey, entry, simulated), *_shown(journey, entry, simulated))


def _assumed(journey: Journey, beside: JourneyPublications, locate: Locate, file: Path, entry: Event) -> list[Event]:
    """Events of the member. Raises `Refused`."""
    messages = read_message(file)
    if not isinstance(messages, list):
        raise Refused(f"{file}: not an array of events")
    read = [event_of(each, file, sorted(journey.heard), beside.beside, locate, LATEST) for each in messages]
    for place, event in enumerate(read):
        if event is None:
            raise Refused(f"{file}: [{place}] is no event that {journey.name} waits for")
    return [event._replace(member_id=entry.member_id) for event in read if event is not None]


def _document(journey: Journey, entry: Event, simulated: Simulated) -> dict[str, Any]:
    return {
        "journey": journey.label if journey.version else journey.name,
        "timezone": journey.timezone,
        "member_id": entry.member_id,
        "conditions": [each._asdict() for each in simulated.seen],
        "against": simulated.against,
        "legs": [_leg(journey, each) for each in simulated.legs],
    }


def _leg(journey: Journey, leg: Leg) -> dict[str, Any]:
    trail = [
        {
            "node": each.node.name,
            "number": each.node.number,
            "turn": each.turn,
            "way": each.way,
            "conditions": [one._asdict() for one in each.seen],
        }
        for each in leg.trail
    ]
    done = [
        {"key": each.key, "node": each.node.name, "do": do_document(each.deed), "arm": each.arm} for each in leg.effects
    ]
    return {"at": leg.at, "woken": leg.woken.value, "trail": trail, "done": done, **_stop(journey, leg)}


def _stop(journey: Journey, leg: Leg) -> dict[str, Any]:
    match leg.stop:
        case Waiting(place, due, why, over):
            waits = {
                "node": journey.by_number[place.node].name,
                "number": place.node,
                "for": why.value,
                "due": due,
                "over": over,
            }
            return {"waits": waits, "left": None}
        case Left(reason, node, seen):
            left = {"reason": reason, "node": None if node is None else node.name}
            return {"waits": None, "left": {**left, "conditions": [each._asdict() for each in seen]}}


def _shown(journey: Journey, entry: Event, simulated: Simulated) -> Iterator[str | Shown]:
    yield from conditions(f"{journey.name} for {entry.member_id}", simulated.seen)
    if simulated.against is not None:
        yield f"{entry.member_id} does not enter {journey.name}: {simulated.against}"
        return
    for leg in simulated.legs:
        local = f"{leg.at.astimezone(journey.zone):%Y-%m-%d %H:%M:%S %Z}"
        ways = [f"{each.node.name}{f' ({each.way})' if each.way else ''}" for each in leg.trail]
        yield f"{local}, {leg.woken}: {' → '.join([*ways, _end(journey, leg)])}"
        for passed in leg.trail:
            yield from conditions(passed.node.name, passed.seen)
        for effect in leg.effects:
            yield f"  {', '.join(do_document(effect.deed))}: {effect.key}"


def _end(journey: Journey, leg: Leg) -> str:
    if isinstance(leg.stop, Left):
        return f"leaves: {leg.stop.reason}"
    until = "" if leg.stop.over is None else f" until {leg.stop.over.astimezone(journey.zone):%Y-%m-%d %H:%M:%S %Z}"
    return f"waits at {journey.by_number[leg.stop.place.node].name} for {leg.stop.why}{until}"
