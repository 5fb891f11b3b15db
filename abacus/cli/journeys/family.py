"""Journeys on the command line: their desk, and drafts in files."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from abacus.cli.campaigns.family import with_drafts
from abacus.cli.documents.stated_family import StatedFamily
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import settings
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


def _with_drafts(published: JourneyPublications, drafts: Mapping[str, Sequence[Any]]) -> JourneyPublications:
    return published.with_drafts(with_drafts(published.beside, drafts), drafts.get("journeys", ()))


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
