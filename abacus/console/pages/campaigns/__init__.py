"""The pages of campaigns."""

from typing import Final

from abacus.console.pages.campaigns import campaign, campaign_draft, campaign_list, campaign_trials

SERVED: Final = (*campaign_list.SERVED, *campaign.SERVED, *campaign_trials.SERVED, *campaign_draft.SERVED)
