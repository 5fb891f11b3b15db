"""Campaigns: those that there are, one of them as sentences with what it has done, and what may be done to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.decide.bars import Bar, bars_of
from abacus.console.decide.outcomes import Series, series_of
from abacus.console.decide.sentences import Sentence, sentences_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.paging import Rows
from abacus.console.web.parts import Part
from abacus.console.web.routes import form, page
from abacus.core.errors import Refused
from abacus.engage.campaigns.campaign_store import CampaignRecord
from abacus.engage.campaigns.decide.document import to_toml
from abacus.engage.campaigns.decide.states import Act, State
from abacus.engage.campaigns.report import ActionLine, ArmLine, CampaignReport, DayLine
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed

_MOST: Final = 50
_ACTS: Final[dict[State, tuple[Act, ...]]] = {
    State.DRAFT: (Act.SUBMIT, Act.END),
    State.SUBMITTED: (Act.WITHDRAW,),
    State.SCHEDULED: (Act.PAUSE, Act.END),
    State.RUNNING: (Act.PAUSE, Act.END),
    State.PAUSED: (Act.RESUME, Act.END),
}


@dataclass(frozen=True)
class CampaignRow:
    """A campaign in the list."""

    name: str
    label: str
    about: str
    country: str
    state: str
    starts_at: datetime
    ends_at: datetime
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True, kw_only=True)
class CampaignsPage(Page):
    """The latest version of each, by name."""

    template: ClassVar[str] = "campaigns.html"
    list: Rows[CampaignRow]
    chosen: str | None
    states: Sequence[str] = tuple(State)
    may_draft: bool


@dataclass(frozen=True)
class Done:
    """What a campaign has done."""

    used: Sequence[Bar]
    days: Sequence[DayLine]
    arms: Sequence[ArmLine]
    actions: Sequence[ActionLine]
    chart: Series


@dataclass(frozen=True, kw_only=True)
class CampaignPage(Page):
    """A version of one campaign: that in force, or else the latest."""

    template: ClassVar[str] = "campaign.html"
    campaign: CampaignRow
    sentences: Sequence[Sentence]
    document: str
    done: Part[Done]
    versions: Sequence[CampaignRow]
    act_options: Sequence[tuple[str, str]]
    may_edit: bool
    form: Form = EMPTY
    fault: str | None = None


async def campaigns(call: Call) -> CampaignsPage:
    countries, now = call.countries(Deed.SEE), call.now
    state, after = call.asked("state"), call.asked("after")
    found = [
        record
        for record in await call.backends.campaigns.latest()
        if (countries is None or record.campaign.country in countries)
        and state in {None, record.state(now)}
        and (after is None or record.campaign.name > after)
    ]
    more = None
    if len(found) > _MOST:
        chosen = f"&state={state}" if state else ""
        more = f"/campaigns?after={found[_MOST - 1].campaign.name}{chosen}"
    return CampaignsPage(
        title="Campaigns",
        command="abacus campaigns list",
        list=Rows([_row(record, now) for record in found[:_MOST]], more),
        chosen=state,
        may_draft=call.may_somewhere(Deed.EDIT_CAMPAIGNS),
    )


async def campaign(call: Call) -> CampaignPage:
    return await _page(call, await _history(call))


async def move(call: Call) -> Page | See:
    """Submits, withdraws, pauses, resumes or ends it."""
    history = await _history(call)
    record = _shown(history)
    call.check(Deed.EDIT_CAMPAIGNS, record.campaign.country)
    act, reason = call.form.get("act"), call.form.get("reason")
    if act not in _acts(call, record):
        return await _page(call, history, fault=f"{record.campaign.label} is {record.state(call.now)} by now.")
    if act != Act.SUBMIT and not reason:
        typed = call.form.shown().but(reason="Say why, for the log.")
        return await _page(call, history, form=typed)
    desk = call.backends.campaigns
    try:
        if act == Act.SUBMIT:
            _, approval = await desk.submit(record.campaign, call.actor)
            return See(f"/approvals/{approval.approval_id}")
        await desk.move(record.campaign, Act(act), reason, call.actor)
    except CannotDecide as fault:
        return await _page(call, history, fault=fault.detail, form=call.form.shown())
    except Refused as fault:
        return await _page(call, history, fault=str(fault), form=call.form.shown())
    return See(f"/campaigns/{record.campaign.name}")


async def _page(
    call: Call, history: Sequence[CampaignRecord], *, form: Form = EMPTY, fault: str | None = None
) -> CampaignPage:
    record, now = _shown(history), call.now
    return CampaignPage(
        title=record.campaign.name,
        command=f"abacus campaigns report {record.campaign.name}",
        campaign=_row(record, now),
        sentences=sentences_of(record.campaign),
        document=to_toml(record.campaign),
        done=await call.part(_done(call, record)),
        versions=[_row(each, now) for each in reversed(history)],
        act_options=[(act, act.capitalize()) for act in _acts(call, record)],
        may_edit=call.may(Deed.EDIT_CAMPAIGNS, record.campaign.country),
        form=form,
        fault=fault,
    )


async def _done(call: Call, record: CampaignRecord) -> Done:
    found: CampaignReport = await call.backends.campaigns.report(record.campaign)
    return Done(bars_of(record.campaign, found.used), found.days, found.arms, found.actions, series_of(found.days))


async def _history(call: Call) -> Sequence[CampaignRecord]:
    """Raises `PageFault` for one that is not open to the person."""
    history = await call.backends.campaigns.history(call.request.path_params["name"])
    if not history or not call.may(Deed.SEE, history[-1].campaign.country):
        raise PageFault("not-found", "No such campaign is open to you.")
    return history


def _shown(history: Sequence[CampaignRecord]) -> CampaignRecord:
    """A draft, or a submitted one, is what somebody works on; else that in force."""
    return history[-1]


def _acts(call: Call, record: CampaignRecord) -> Sequence[str]:
    if not call.may(Deed.EDIT_CAMPAIGNS, record.campaign.country):
        return ()
    return tuple(act.value for act in _ACTS.get(record.state(call.now), ()))


def _row(record: CampaignRecord, now: datetime) -> CampaignRow:
    campaign = record.campaign
    return CampaignRow(
        name=campaign.name,
        label=campaign.label,
        about=campaign.about,
        country=campaign.country,
        state=record.state(now),
        starts_at=campaign.starts_at,
        ends_at=campaign.ends_at,
        changed_at=record.changed_at,
        changed_by=record.changed_by,
    )


SERVED: Final = (
    page("/campaigns", campaigns),
    page("/campaigns/{name}", campaign),
    form("/campaigns/{name}/move", move, Deed.EDIT_CAMPAIGNS),
)
