"""A rate card that is being written: fields beside its text, what it changes, its backtest, and its way to approval."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, ClassVar, Final

from abacus.approving.card_desk import CardDesk
from abacus.console.decide.card_fields import CardForm, at_odds, changed, edited, field_of, form_of, path_of
from abacus.console.errands.types import Order
from abacus.console.pages.operations.errands import Done, ask, done_of, newest, open_to
from abacus.console.pages.rates.card_list import history_of
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.parts import Part
from abacus.console.web.routes import form, page
from abacus.core.document_text import read_toml, write_toml
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults, Fault
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import RateCard, country_of, parse_card, split_name, to_document, to_toml
from abacus.pricing.store.reader import CardReader

BACKTEST: Final = "rates-backtest"
_FILE: Final = "card.toml"
_APPLY: Final = "apply"
_SHOWN: Final = "shown"  # the text that the fields were shown with
_MONTH: Final = timedelta(days=30)


@dataclass(frozen=True)
class Changes:
    """What publishing the card changes: against the card that it displaces, until another takes over."""

    against: str | None
    changes: Sequence[str]
    until: str | None


@dataclass(frozen=True, kw_only=True)
class RateDraftPage(Page):
    """The text with its fields; every fault by its path, or what publishing it changes."""

    template: ClassVar[str] = "rate_draft.html"
    text: str
    fields: CardForm | None
    faults: Sequence[Fault] = ()
    changes: Changes | None = None
    backtest: Part[Done | None] | None = None
    since: date
    until: date
    form: Form = EMPTY
    fault: str | None = None


@dataclass(frozen=True, kw_only=True)
class BacktestPage(Page):
    """One backtest of a card."""

    template: ClassVar[str] = "rate_backtest.html"
    backtest: Done


async def draft(call: Call) -> RateDraftPage:
    """A version that is there, to be changed; without one, the latest of the first scope that is open."""
    scope, version = split_name(call.asked("of") or _first(call))
    history = await history_of(call, scope)
    for record in reversed(history):
        if version in {None, record.published.version}:
            return await _page(call, to_toml(record.published.card))
    raise PageFault("not-found", f"{scope} has no version {version}.")


async def change_or_submit(call: Call) -> Page | See:
    """Puts the fields that were edited into the text, and then shows, backtests or submits that."""
    text, act, typed = call.form.exactly("text"), call.form.get("act"), call.form.shown()
    try:
        text = _followed(text, call.form)
        card = parse_card(read_toml(text))
        call.check(Deed.PUBLISH_RATES, country_of(card.scope))
        if act == "backtest":
            typed = await _asked(call, card, typed)
        if act != "submit":
            return await _page(call, text, form=_days(typed))
        approval = await call.rooms[CardDesk].ask(card, call.actor)
    except DocumentFaults as error:
        return await _page(call, text, faults=error.faults)
    except CannotDecide as fault:
        return await _page(call, text, fault=fault.detail)
    except Refused as fault:
        return await _page(call, text, fault=str(fault))
    return See(f"/approvals/{approval.approval_id}")


def _followed(text: str, typed: Form) -> str:
    """The text with the fields that were edited since both were the same, whichever button was pressed then. Raises
    `DocumentFaults`, also where the text says something else of such a field by now.
    """
    document = read_toml(text)
    shown = _document(typed.exactly(_SHOWN)) or document
    fields = edited(shown, typed.typed)
    if not fields:
        return text
    odd = at_odds(shown, document, fields) if typed.get("act") != _APPLY else {}
    if odd:
        raise DocumentFaults(
            Fault(path_of(name), f"the field says {fields[name] or 'nothing'}, and the text {value or 'nothing'}")
            for name, value in odd.items()
        )
    return write_toml(changed(document, fields))


def _document(text: str) -> Mapping[str, Any] | None:
    try:
        return read_toml(text) if text else None
    except DocumentFaults:
        return None


async def backtest(call: Call) -> BacktestPage:
    found = await open_to(call, call.request.path_params["backtest"])
    if found.kind != BACKTEST:
        raise PageFault("not-found", "This errand is no backtest of a card.")
    return BacktestPage(
        title=f"Backtest of a card of {found.subject.partition(' ')[0]}",
        command=found.command,
        backtest=await done_of(call, found),
    )


async def backtest_of(call: Call, card: RateCard) -> Done | None:
    """The newest one of exactly this card. Raises `Unavailable`."""
    return await newest(call, BACKTEST, _subject(card))


def _subject(card: RateCard) -> str:
    text = json.dumps(to_document(card), sort_keys=True, default=str)
    return f"{card.scope} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


async def _asked(call: Call, card: RateCard, typed: Form) -> Form:
    """Asks for the backtest. The form has the faults of the days."""
    days: dict[str, date] = {}
    for name in ("since", "until"):
        try:
            days[name] = date.fromisoformat(typed.get(name))
        except ValueError:
            typed = typed.but(**{name: "Write a day, such as 2026-11-23."})
    if not typed.wrong and days["until"] < days["since"]:
        typed = typed.but(until="It is before the first day.")
    if not typed.wrong:
        arguments = ("rates", "backtest", _FILE, f"--from={days['since']}", f"--to={days['until']}", "--json")
        await ask(call, Order(BACKTEST, _subject(card), country_of(card.scope), arguments, {_FILE: to_toml(card)}))
    return typed


def _days(typed: Form) -> Form:
    """The days stay as they were typed; the other fields show what the text has."""
    return Form({name: value for name, value in typed.typed.items() if name in {"since", "until"}}, typed.wrong)


async def _page(
    call: Call, text: str, *, faults: Sequence[Fault] = (), form: Form = EMPTY, fault: str | None = None
) -> RateDraftPage:
    fields, changes, tested, today = None, None, None, call.now.date()
    try:
        document = read_toml(text)
        fields = form_of(document)
        card = parse_card(document)
        found = await call.rooms[CardDesk].displacement(card)
        changes = Changes(found.against, found.changes, found.until)
        tested = await call.part(backtest_of(call, card))
    except DocumentFaults as error:
        faults = error.faults
    if faults:
        form = form.but(text=f"{len(faults)} to mend.", **{field_of(each.path): each.message for each in faults})
    return RateDraftPage(
        title="Draft a rate card",
        command="abacus rates publish FILE",
        text=text,
        fields=fields,
        faults=faults,
        changes=changes,
        backtest=tested,
        since=today - _MONTH,
        until=today,
        form=form,
        fault=fault,
    )


def _first(call: Call) -> str:
    """Raises `PageFault` where no scope is open."""
    for scope in call.rooms[CardReader].book().scopes():
        if call.may(Deed.PUBLISH_RATES, country_of(scope)):
            return scope
    raise PageFault("not-found", "There is no card to begin with; `abacus rates publish` publishes the first one.")


SERVED: Final = (
    page("/rates-draft", draft, Deed.PUBLISH_RATES),
    form("/rates-draft", change_or_submit, Deed.PUBLISH_RATES),
    page("/rates-backtests/{backtest:uuid}", backtest),
)
