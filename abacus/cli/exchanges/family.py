"""Programmes on the command line: their desk, and drafts in files."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from abacus.cli.documents.stated_family import StatedFamily
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import settings
from abacus.exchanges.decide.publications import ExchangePublications
from abacus.exchanges.desk import ProgrammeDesk
from abacus.exchanges.kind import PROGRAMMES


@asynccontextmanager
async def programme_desk(at: CommandActor) -> AsyncIterator[ProgrammeDesk]:
    approvals = large_moves(at.pool, at).approvals
    yield ProgrammeDesk(at.pool, at.clock, approvals, to_private=settings().webhooks_to_private)


def _with_drafts(published: ExchangePublications, drafts: Mapping[str, Sequence[Any]]) -> ExchangePublications:
    return published.with_drafts(
        cards=drafts.get("rates", ()),
        counters=drafts.get("counters", ()),
        downstreams=drafts.get("downstreams", ()),
    )


FAMILY: Final = StatedFamily(
    kind=PROGRAMMES,
    desk=programme_desk,
    files="Programmes, in TOML or JSON.",
    drafts="exchanges",
    one="a programme",
    nothing_new="the programmes are there already",
    with_drafts=_with_drafts,
    sentence=lambda each: f"{each.name} of {each.country}, with {each.partner}",
)
