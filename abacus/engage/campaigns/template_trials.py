"""Trying the templates of a draft, in the process that renders them."""

from collections.abc import Mapping

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import Read, read_campaign
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.notify.renderer import Renderer


async def tried_campaign(document: Mapping[str, object], around: Publications, renderer: Renderer) -> Campaign:
    """The draft of a document, judged by what is published. Raises `CampaignFaults` with every fault that it has, and
    `Unavailable`.
    """
    return await tried(read_campaign(document, around), renderer)


async def tried(read: Read, renderer: Renderer) -> Campaign:
    """What was read. Raises as `tried_campaign` does."""
    renderings = [each.rendering for each in read.trials]
    return read.judged(await renderer.render(renderings, is_trial=True) if renderings else ())
