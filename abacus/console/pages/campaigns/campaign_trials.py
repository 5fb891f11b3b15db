"""Trials of a campaign, be it published or not: what it would do for an event, and what it would have done."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar, Final

from abacus.console.decide.trials import Backtested, Simulated, backtested, simulated
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import Errand, Order
from abacus.console.pages.campaigns.campaign import history_of, shown_of
from abacus.console.pages.operations.errands import Done, ask, done_of, open_to
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.console.web.routes import form, page
from abacus.core.errors import SetAside, Unavailable
from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.engage.campaigns.decide.document import to_document, to_toml
from abacus.pricing.store.reader import CardReader

SIMULATE: Final = "campaign-simulate"
BACKTEST: Final = "campaign-backtest"
_FILE: Final = "campaign.toml"
_EVENT: Final = "event.json"
_WEEK: Final = timedelta(days=7)
_EXAMPLE: Final = """{
  "type": "transaction.completed",
  "source": "food",
  "transaction_id": "T-1",
  "member_id": "bob",
  "country": "%s",
  "vertical": "food",
  "payment_type": "wallet",
  "amount": "20.00",
  "currency": "%s",
  "occurred_at": "%s"
}
"""


@dataclass(frozen=True)
class Trial:
    """An errand with what it says of the campaign, once it is done."""

    done: Done
    simulated: Simulated | None = None
    backtested: Backtested | None = None


@dataclass(frozen=True, kw_only=True)
class TrialsPage(Page):
    """A version, its newest trials, and the fields for another one."""

    template: ClassVar[str] = "campaign_trials.html"
    name: str
    version: int
    event: str
    since: date
    until: date
    trials: Part[Sequence[Trial]]
    form: Form = EMPTY


@dataclass(frozen=True, kw_only=True)
class TrialPage(Page):
    """One trial."""

    template: ClassVar[str] = "campaign_trial.html"
    trial: Trial


async def trial(call: Call) -> TrialPage:
    found = await open_to(call, call.request.path_params["trial"])
    if found.kind not in {SIMULATE, BACKTEST}:
        raise PageFault("not-found", "This errand is no trial of a campaign.")
    return TrialPage(
        title=f"Trial of {found.subject.partition(' ')[0]}",
        command=found.command,
        trial=_trial(await done_of(call, found)),
    )


async def trials(call: Call) -> TrialsPage:
    record = shown_of(await history_of(call), call.asked("version"))
    return await _page(call, record.document)


async def attempt(call: Call) -> Page | See:
    """Asks for the trial that was chosen."""
    campaign = shown_of(await history_of(call), call.form.get("version") or None).document
    typed, asked = await asked_trial(call, call.form.get("act"), call.form.shown(), campaign)
    if asked is None:
        return await _page(call, campaign, typed)
    return See(f"/campaigns/{campaign.name}/trials?version={campaign.version}")


async def asked_trial(call: Call, act: str, typed: Form, campaign: Campaign) -> tuple[Form, Errand | None]:
    """The errand that was asked for; none for another act, and for fields with faults, which the form then has."""
    given: tuple[str, ...] | None = None
    papers = {_FILE: to_toml(campaign)}
    if act == "simulate":
        typed, event = _event(typed)
        member = typed.get("member")
        papers[_EVENT] = event
        given = ("simulate", _FILE, f"--event={_EVENT}", *([f"--member={member}"] if member else []))
    elif act == "backtest":
        typed, window = _window(typed, campaign)
        given = ("backtest", _FILE, *window, *_any_time(typed, campaign))
    if given is None or typed.wrong:
        return typed, None
    kind = SIMULATE if act == "simulate" else BACKTEST
    order = Order(kind, subject_of(campaign), campaign.country, ("campaigns", *given, "--json"), papers)
    return typed, await call.rooms[ErrandStore].find(await ask(call, order))


async def trials_of(call: Call, campaign: Campaign) -> Sequence[Trial]:
    """The newest of each kind, of exactly this document. Raises `Unavailable`."""
    found = [
        errand
        for kind in (SIMULATE, BACKTEST)
        for errand in await call.rooms[ErrandStore].newest(kind, subject_of(campaign))
    ]
    return [_trial(await done_of(call, each)) for each in found]


def subject_of(campaign: Campaign) -> str:
    """The name, and a digest of the document: a version and the draft that it was made of are one."""
    text = json.dumps(to_document(campaign), sort_keys=True, default=str)
    return f"{campaign.name} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def example_event(campaign: Campaign, now: datetime, currency: str) -> str:
    """An event that the campaign may answer to, to be changed."""
    return _EXAMPLE % (campaign.country, currency, now.astimezone(campaign.zone).isoformat(timespec="seconds"))


def currency_in(call: Call, country: str) -> str:
    """That of the card in force there; empty where there is none."""
    try:
        return call.rooms[CardReader].book().in_force(country, call.now).card.currency
    except (SetAside, Unavailable):
        return ""


def _trial(done: Done) -> Trial:
    document: Any = done.document
    if document is None:
        return Trial(done)
    if done.errand.kind == SIMULATE:
        return Trial(done, simulated=simulated(document))
    return Trial(done, backtested=backtested(document))


def _event(typed: Form) -> tuple[Form, str]:
    text = typed.get("event")
    try:
        json.loads(text)
    except ValueError as fault:
        return typed.but(event=f"Not JSON: {fault}"), text
    return typed, text


def _window(typed: Form, campaign: Campaign) -> tuple[Form, tuple[str, ...]]:
    """Whole days of the campaign's zone, both included."""
    days: dict[str, date] = {}
    for name in ("since", "until"):
        try:
            days[name] = date.fromisoformat(typed.get(name))
        except ValueError:
            typed = typed.but(**{name: "Write a day, such as 2026-11-23."})
    if typed.wrong:
        return typed, ()
    if days["until"] < days["since"]:
        return typed.but(until="It is before the first day."), ()
    begin = datetime.combine(days["since"], time(), campaign.zone)
    end = datetime.combine(days["until"] + timedelta(days=1), time(), campaign.zone)
    return typed, (f"--from={begin.isoformat()}", f"--to={end.isoformat()}")


def _any_time(typed: Form, campaign: Campaign) -> tuple[str, ...]:
    """A draft of another time is tried as if its time were the window."""
    if typed.wrong:
        return ()
    first, last = campaign.starts_at.astimezone(campaign.zone).date(), campaign.ends_at.astimezone(campaign.zone).date()
    runs_then = first <= date.fromisoformat(typed.get("until")) and date.fromisoformat(typed.get("since")) <= last
    return () if runs_then else ("--any-time",)


async def _page(call: Call, campaign: Campaign, typed: Form = EMPTY) -> TrialsPage:
    today = call.now.astimezone(campaign.zone).date()
    return TrialsPage(
        title=f"Try {campaign.name}",
        command=f"abacus campaigns backtest {campaign.label} --from {today - _WEEK} --to {today}",
        name=campaign.name,
        version=campaign.version,
        event=example_event(campaign, call.now, currency_in(call, campaign.country)),
        since=today - _WEEK,
        until=today,
        trials=await call.part(trials_of(call, campaign)),
        form=typed,
    )


SERVED: Final = (
    page("/campaigns/{name}/trials", trials),
    page("/campaign-trials/{trial:uuid}", trial),
    form("/campaigns/{name}/trials", attempt),
)
