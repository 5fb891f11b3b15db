"""The pages of campaigns."""

from typing import Final

from abacus.console.pages.campaigns import campaign, campaign_calendar, campaign_draft, campaign_trials
from abacus.console.pages.campaigns.campaign_pages import PAGES
from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/campaigns", PAGES.listed),
    page("/campaigns-calendar", campaign_calendar.calendar),
    page("/campaigns/{name}", campaign.campaign),
    form("/campaigns/{name}/move", PAGES.move, Deed.EDIT_CAMPAIGNS, shows=campaign.campaign),
    form("/campaigns/{name}/report", campaign.ask_report),
    page("/campaigns/{name}/trials", campaign_trials.trials),
    form("/campaigns/{name}/trials", campaign_trials.attempt, shows=campaign_trials.trials),
    *draft_pages(campaign_draft.CAMPAIGN_DRAFTS),
)
