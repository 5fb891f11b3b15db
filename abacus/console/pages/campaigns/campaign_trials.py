"""Trials of a version that is there: what it would do for an event, and what it would have done."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Final

from abacus.console.pages.campaigns.campaign import history_of, shown_of
from abacus.console.pages.campaigns.campaign_draft import CAMPAIGN_DRAFTS
from abacus.console.pages.drafts.trials import Trial, TrialForm, trial_forms, trials_of, try_draft
from abacus.console.web.calls import Call
from abacus.console.web.forms import EMPTY, Form, WrongForm
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
    record = shown_of(await history_of(call), call.asked("version"))
    return await _page(call, record.document)


async def attempt(call: Call) -> Page | See:
    """Asks for the trial that was chosen."""
    campaign = shown_of(await history_of(call), call.form.get("version") or None).document
    act, typed = call.form.get("act"), call.form.shown()
    path = f"/campaigns/{campaign.name}/trials?version={campaign.version}"
    try:
        asked = await try_draft(call, CAMPAIGN_DRAFTS, act, typed, campaign, path=path)
    except WrongForm as wrong:
        return await _page(call, campaign, wrong.form)
    return asked or await _page(call, campaign, typed)


async def _page(call: Call, campaign: Campaign, typed: Form = EMPTY) -> TrialsPage:
    today = call.now.astimezone(campaign.zone).date()
    return TrialsPage(
        title=f"Try {campaign.name}",
        command=f"abacus campaigns backtest {campaign.label} --from {today - _WEEK} --to {today}",
        name=campaign.name,
        version=campaign.version,
        trial_forms=trial_forms(call, CAMPAIGN_DRAFTS, campaign),
        trials=await call.part(trials_of(call, CAMPAIGN_DRAFTS, campaign)),
        form=typed,
    )
