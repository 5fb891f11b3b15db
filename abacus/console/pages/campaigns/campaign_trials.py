"""Trials of a version that is there: what it would do for an event, and what it would have done."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Final

from abacus.console.pages.campaigns.campaign_draft import CAMPAIGN_DRAFTS
from abacus.console.pages.campaigns.campaign_pages import PAGES
from abacus.console.pages.drafts.trials import Trial, TrialForm, trial_forms, trials_of, try_draft
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.engage.campaigns.decide.campaign import Campaign

_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, kw_only=True)
class TrialsPage(Page):
    """A version, its newest trials, and the fields for another one."""

    template: ClassVar[str] = "campaign_trials.html"
    name: str
    version: int
    trial_forms: Sequence[TrialForm]
    trials: Part[Sequence[Trial]]


async def trials(call: Call) -> TrialsPage:
    campaign = await _shown(call)
    today = call.now.astimezone(campaign.zone).date()
    return TrialsPage(
        title=f"Try {campaign.name}",
        command=f"abacus campaigns backtest {campaign.label} --from {today - _WEEK} --to {today}",
        name=campaign.name,
        version=campaign.version,
        trial_forms=trial_forms(call, CAMPAIGN_DRAFTS, campaign),
        trials=await call.part(trials_of(call, CAMPAIGN_DRAFTS, campaign)),
    )


async def attempt(call: Call) -> See:
    """Asks for the trial that was chosen."""
    campaign, typed = await _shown(call), call.form.shown()
    path = f"/campaigns/{campaign.name}/trials?version={campaign.version}"
    asked = await try_draft(call, CAMPAIGN_DRAFTS, call.form.get("act"), typed, campaign, path=path)
    return asked or See(path)


async def _shown(call: Call) -> Campaign:
    return PAGES.shown(call, await PAGES.history(call)).document
