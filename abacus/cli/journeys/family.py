"""Journeys on the command line: their desk, and drafts in files."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from abacus.cli.documents.drafts import Judged, faultless
from abacus.cli.documents.stated_family import StatedFamily
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import settings
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.desk import JourneyDesk
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.notify.renderer import rendering
from abacus.signals.events.wiring import built_in_sources


@asynccontextmanager
async def journey_desk(at: CommandActor) -> AsyncIterator[JourneyDesk]:
    async with rendering() as renderer:
        approvals = large_moves(at.pool, at).approvals
        yield JourneyDesk(at.pool, at.clock, built_in_sources(settings()), approvals, renderer)


async def chosen(which: str, desk: JourneyDesk, beside: JourneyPublications) -> Journey:
    """The journey of a file, or a published version. Raises `Refused` and `DocumentFaults`."""
    if Path(which).suffix in {".toml", ".json"}:
        (draft,) = await faultless([Path(which)], JOURNEYS, Judged(desk.read, beside, {}))
        return draft.document
    return (await desk.version(which)).document


def _with_drafts(published: JourneyPublications, drafts: Mapping[str, Sequence[Any]]) -> JourneyPublications:
    beside = published.beside.with_drafts(
        cards=drafts.get("rates", ()),
        sources=drafts.get("events", ()),
        counters=drafts.get("counters", ()),
        downstreams=drafts.get("downstreams", ()),
        offers=drafts.get("offers", ()),
        rewards=drafts.get("rewards", ()),
    )
    return published.with_drafts(beside, drafts.get("journeys", ()))


FAMILY: Final = StatedFamily(
    kind=JOURNEYS,
    desk=journey_desk,
    files="Journeys, in TOML or JSON.",
    drafts="journeys",
    one="a journey",
    nothing_new="the journeys are there already",
    with_drafts=_with_drafts,
    sentence=lambda journey: f"{journey.name} of {journey.country}, with {len(journey.nodes)} nodes",
)
