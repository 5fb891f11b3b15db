"""How campaigns are put together."""

from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.directory import CampaignDirectory
from abacus.engage.notify.renderer import rendering
from abacus.people.store.approvals import Approvals
from abacus.platform.announcements import Announced
from abacus.platform.postgres import Pool
from abacus.platform.wiring import Wiring
from abacus.signals.events.wiring import built_in_sources


async def campaign_desk(wiring: Wiring, pool: Pool, approvals: Approvals) -> CampaignDesk:
    sources, renderer = built_in_sources(wiring.settings), await wiring.entered(rendering())
    return CampaignDesk(pool, wiring.clock, sources, approvals, renderer)


def campaigns_in_use(wiring: Wiring, pool: Pool) -> CampaignDirectory:
    settings = wiring.settings
    campaigns = CampaignDirectory(
        pool, built_in_sources(settings), wiring.clock, uncounted_from=settings.campaign_uncounted_from
    )
    woken_by = (Announced.CAMPAIGNS, Announced.COUNTERS, Announced.EVENT_SOURCES, Announced.DOWNSTREAMS)
    return wiring.keep(campaigns, on=woken_by)
