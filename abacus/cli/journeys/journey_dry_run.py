"""`abacus journeys dry-run`: how many members of a segment would take each way. Nothing is done."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from abacus.cli.campaigns.campaign_events import read_message
from abacus.cli.campaigns.campaign_simulate import counters_now, members_now
from abacus.cli.documents.chosen import chosen
from abacus.cli.downstreams.asked import services
from abacus.cli.journeys.entries import Context, EnteredAt, Which, entry_of, nowhere
from abacus.cli.journeys.family import journey_desk
from abacus.cli.terminal.answer import Answer, Shown, Table
from abacus.cli.terminal.command_actor import at_desk
from abacus.cli.terminal.shell import moment
from abacus.core.errors import Refused
from abacus.engage.journeys.decide.context import read_context
from abacus.engage.journeys.decide.graph import in_order
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.dry_run import DryRun, dry_run
from abacus.engage.journeys.facts import journey_facts
from abacus.people.types.deed import Deed
from abacus.signals.places.locating import locate_now
from abacus.signals.segments.desk import Sample, SegmentDesk
from abacus.signals.segments.sets import segment_sets

_USUAL: Final = 1_000
_MOST: Final = 10_000


async def dry_run_journey(
    which: Which,
    segment: Annotated[str, typer.Option(metavar="NAME[@N]", help="Whose members are looked at.", show_default=False)],
    members: Annotated[int, typer.Option(min=1, max=_MOST, help="How many of them at most, evenly chosen.")] = _USUAL,
    event: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The event of the entry, in JSON, as if it were each member's.")
    ] = None,
    context: Context = None,
    when: EnteredAt = None,
) -> Answer:
    """Say how many members of a segment would take each way through a journey.

    Waits are over by the clock, and what is known of the members stays as it is now.
    """
    async with at_desk(journey_desk) as (desk, at), services(at) as asking:
        beside = await desk.around()
        journey = await chosen(which, desk, beside)
        at.check(Deed.SEE, journey.country)
        sample = await SegmentDesk(at.pool, at.clock).sample(segment, members)
        if sample.segment.country not in {None, journey.country}:
            raise Refused(f"{sample.segment.label} is of {sample.segment.country}, {journey.name} of {journey.country}")
        begins = None if when is None else moment("--at", when)
        given = read_context({} if context is None else read_message(context), journey.context)
        entry = entry_of(journey, beside, await locate_now(at.pool), event, "", begins, desk.now())
        entries = [entry._replace(id=f"{entry.id}:{each}", member_id=each) for each in sample.members]
        facts = journey_facts(
            at.pool,
            members=members_now(at.pool),
            counters=counters_now(at.pool, beside.beside),
            segments=segment_sets(at.pool),
            services=asking.ask,
            been_in=nowhere,
        )
        found = await dry_run(journey, entries, given, facts=facts, around=beside)
    document = _document(journey, sample, found)
    return Answer(document, *_shown(document))


def _document(journey: Journey, sample: Sample, found: DryRun) -> dict[str, Any]:
    order = {node.name: place for place, node in enumerate(in_order(journey))}
    return {
        "journey": journey.label if journey.version else journey.name,
        "segment": sample.segment.label,
        "members": sample.segment.size,
        "looked_at": len(sample.members),
        "entered": found.entered,
        "unknown": found.unknown,
        "against": _counts("reason", found.against),
        "ways": [
            {**way._asdict(), "members": count}
            for way, count in sorted(found.ways.items(), key=lambda each: order[each[0].node])
        ],
        "left": _counts("reason", found.left),
    }


def _counts(name: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The most first."""
    return [{name: each, "members": counts[each]} for each in sorted(counts, key=lambda each: (-counts[each], each))]


def _shown(document: Mapping[str, Any]) -> Iterator[str | Shown]:
    looked_at, members = document["looked_at"], document["members"]
    of = f"{looked_at:,} members" if looked_at == members else f"{looked_at:,} of {members:,} members"
    yield f"{of} of {document['segment']} looked at: {document['entered']:,} would enter {document['journey']}"
    for each in document["against"]:
        yield f"{each['members']:,} would not: {each['reason']}"
    if document["unknown"]:
        yield f"of {document['unknown']:,} a value cannot be told now"
    rows = [[each["node"], each["way"] or "-", each["to"] or "-", f"{each['members']:,}"] for each in document["ways"]]
    if rows:
        yield Table("Ways", ["node", "way", "to", "members"], rows)
    for each in document["left"]:
        yield f"{each['members']:,} leave: {each['reason']}"
