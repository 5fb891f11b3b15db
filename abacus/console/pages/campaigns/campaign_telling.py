"""How the approval of a campaign is told."""

from typing import Final

from abacus.console.pages.approvals.stated_telling import StatedTelling
from abacus.console.pages.campaigns.campaign_draft import CAMPAIGN_DRAFTS
from abacus.engage.campaigns.decide.campaign_form import CAMPAIGN_FORM
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.kind import CAMPAIGNS

_WHY: Final = "A campaign gives points away by itself, so another person looks at exactly this version before it runs."

CAMPAIGN: Final = StatedTelling(CAMPAIGNS, CAMPAIGN_FORM, CampaignDesk, why=_WHY, drafts=CAMPAIGN_DRAFTS).telling()
