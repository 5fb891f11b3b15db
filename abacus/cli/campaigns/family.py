"""Campaigns on the command line: their desk, and drafts in files."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from abacus.cli.documents.stated_family import StatedFamily
from abacus.cli.people.approvals import large_moves
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import settings
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.notify.renderer import rendering
from abacus.signals.events.wiring import built_in_sources


@asynccontextmanager
async def campaign_desk(at: CommandActor) -> AsyncIterator[CampaignDesk]:
    async with rendering() as renderer:
        approvals = large_moves(at.pool, at).approvals
        yield CampaignDesk(at.pool, at.clock, built_in_sources(settings()), approvals, renderer)


def with_drafts(published: Publications, drafts: Mapping[str, Sequence[Any]]) -> Publications:
    """Once these drafts are published too, by the commands of their kinds."""
    return published.with_drafts(
        cards=drafts.get("rates", ()),
        sources=drafts.get("events", ()),
        counters=drafts.get("counters", ()),
        downstreams=drafts.get("downstreams", ()),
        offers=drafts.get("offers", ()),
        rewards=drafts.get("rewards", ()),
    )


FAMILY: Final = StatedFamily(
    kind=CAMPAIGNS,
    desk=campaign_desk,
    files="Campaigns, in TOML or JSON.",
    drafts="campaigns",
    one="a campaign",
    nothing_new="the campaigns are there already",
    with_drafts=with_drafts,
    sentence=lambda campaign: f"{campaign.name} of {campaign.country}",
)
