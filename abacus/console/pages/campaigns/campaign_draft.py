"""Drafts of campaigns: rows beside the text, told as sentences, simulated and backtested."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any, Final

from abacus.console.decide.form_field import FormField
from abacus.console.decide.trials import backtested, simulated
from abacus.console.pages.campaigns.campaign_preview import CAMPAIGN_PREVIEW
from abacus.console.pages.campaigns.campaign_templates import TEMPLATES, begun
from abacus.console.pages.drafts.draft_kind import DraftKind, TrialKind, TrialOrder
from abacus.console.pages.drafts.trial_events import event_field, read_json
from abacus.console.pages.drafts.trials import day_fields, days_of
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.campaign_reader import restore_campaign
from abacus.engage.campaigns.decide.document import toml_of
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.signals.events.recent import RecentEvents

_EVENT_FILE: Final = "event.json"
_WEEK: Final = timedelta(days=7)


def _event_fields(call: Call, campaign: Campaign) -> Sequence[FormField]:
    """An event that the campaign may answer to, to be changed."""
    return [
        event_field(call, campaign.country, campaign.zone),
        FormField("member", "Another member", hint="Otherwise the event's own."),
    ]


def _last_week(call: Call, campaign: Campaign) -> Sequence[FormField]:
    today = call.now.astimezone(campaign.zone).date()
    return day_fields(today - _WEEK, today)


def _simulation(typed: Form, _: Campaign) -> TrialOrder:
    event, member = read_json(typed, "event"), typed.get("member")
    return TrialOrder((f"--event={_EVENT_FILE}", *([f"--member={member}"] if member else [])), {_EVENT_FILE: event})


def _backtest(typed: Form, campaign: Campaign) -> TrialOrder:
    """Whole days of the campaign's zone, both included; at another time than its own it is tried at any time."""
    since, until = days_of(typed)
    begin = datetime.combine(since, time(), campaign.zone)
    end = datetime.combine(until + timedelta(days=1), time(), campaign.zone)
    first, last = (at.astimezone(campaign.zone).date() for at in (campaign.starts_at, campaign.ends_at))
    any_time = () if first <= until and since <= last else ("--any-time",)
    return TrialOrder((f"--from={begin.isoformat()}", f"--to={end.isoformat()}", *any_time))


async def _around(call: Call) -> Publications:
    """With what the last events were like, where the console can read them."""
    around, recent = await call.rooms[CampaignDesk].around(), call.rooms.find(RecentEvents)
    return around if recent is None else replace(around, seen=recent.seen(around.sources))


def _approved(document: Mapping[str, Any]) -> Campaign:
    return restore_campaign(document["campaign"], document["version"])


CAMPAIGN_DRAFTS: Final = DraftKind(
    kind=CAMPAIGNS,
    desk=lambda rooms: rooms[CampaignDesk],
    about="Checked by what is published now. Another person approves exactly this version.",
    begin=lambda call: toml_of(begun(call)),
    templates=TEMPLATES,
    around=_around,
    preview=CAMPAIGN_PREVIEW,
    submit="Submit for approval",
    trials=[
        TrialKind(
            act="simulate",
            errand="campaign-simulate",
            title="What it would do for an event",
            button="Simulate",
            fields=_event_fields,
            order=_simulation,
            words=simulated,
        ),
        TrialKind(
            act="backtest",
            errand="campaign-backtest",
            title="What it would have done",
            button="Backtest",
            fields=_last_week,
            order=_backtest,
            words=backtested,
            note="With what the topics still hold of these days. Limits begin unused; "
            "what rules look up is as it is now.",
        ),
    ],
    trials_path="/campaign-trials",
    tried_at=lambda campaign: f"/campaigns/{campaign.name}/trials?version={campaign.version}",
    approval=CAMPAIGNS.approval,
    approved=_approved,
)
