"""The pages of campaigns."""

from typing import Final

from abacus.console.pages.campaigns import campaign, campaign_calendar, campaign_draft, campaign_list, campaign_trials
from abacus.console.pages.drafts.draft_page import draft_pages
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed

SERVED: Final = (
    page("/campaigns", campaign_list.campaigns),
    page("/campaigns-calendar", campaign_calendar.calendar),
    page("/campaigns/{name}", campaign.campaign),
    form("/campaigns/{name}/move", campaign.PAGES.move, Deed.EDIT_CAMPAIGNS, shows=campaign.campaign),
    form("/campaigns/{name}/report", campaign.ask_report),
    page("/campaigns/{name}/trials", campaign_trials.trials),
    form("/campaigns/{name}/trials", campaign_trials.attempt, shows=campaign_trials.trials),
    *draft_pages(campaign_draft.CAMPAIGN_DRAFTS),
)
