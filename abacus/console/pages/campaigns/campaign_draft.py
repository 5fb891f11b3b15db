"""A campaign that is being written: rows beside its text, checked by what is published, tried, and submitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from abacus.console.decide.campaign_rows import (
    ConditionRow,
    StepRow,
    condition_of,
    conditions_in,
    steps_in,
    with_condition,
    with_step,
    without_condition,
    without_step,
)
from abacus.console.decide.sentences import OPERATORS as WORDS
from abacus.console.decide.sentences import Sentence, sentences_of
from abacus.console.decide.typed import whole
from abacus.console.pages.campaigns.campaign import history_of, shown_of
from abacus.console.pages.campaigns.campaign_trials import Trial, asked_trial, currency_in, example_event, trials_of
from abacus.console.web.calls import Call
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.routes import form, page
from abacus.core.document_text import read_toml
from abacus.core.errors import Refused
from abacus.core.fields import Bad, DocumentFaults, Fault
from abacus.engage.campaigns.decide.document import to_toml, toml_of
from abacus.engage.campaigns.decide.sides import sides_there_are
from abacus.engage.campaigns.decide.surroundings import Surroundings
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.people.types.approval import CannotDecide
from abacus.people.types.deed import Deed
from abacus.signals.events.decide.vocabulary import Vocabulary, event_type_of
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.document import OPERATORS
from abacus.signals.rules.decide.types import Operator

_SUBMIT: Final = "submit"
_BEGIN: Final = """name = "third_order"
about = "Bring people back for a third order"
country = "SG"
timezone = "Asia/Singapore"
starts_at = 2026-12-01T00:00:00+08:00
ends_at = 2027-01-01T00:00:00+08:00
on = ["transactions/transaction.completed"]

[when]
operator = "eq"
lhs = "var.vertical"
rhs = "food"

[[steps]]
at = 3
[[steps.do]]
award = { points = 500 }

[limits]
runs = { overall = 20000, member = 1 }
"""


@dataclass(frozen=True)
class Rows:
    """The parts of the text as rows, and what rows may be added: left sides with their types, the operators that fit
    the chosen one, the types of events, and the webhooks.
    """

    conditions: Sequence[ConditionRow]
    steps: Sequence[StepRow]
    sides: Sequence[tuple[str, str]]
    operators: Sequence[tuple[str, str]]
    webhooks: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class DraftPage(Page):
    """The text with its rows, every fault of it by its path, or what it says where there is none."""

    template: ClassVar[str] = "campaign_draft.html"
    text: str
    rows: Rows | None
    faults: Sequence[Fault] = ()
    sentences: Sequence[Sentence] = ()
    trials: Sequence[Trial] = ()
    event: str = ""
    form: Form = EMPTY
    fault: str | None = None


async def draft(call: Call) -> DraftPage:
    """A campaign that is there already, to be changed; or an example."""
    name, text = call.asked("of"), _BEGIN
    if name is not None:
        history = await history_of(call, name)
        text = to_toml(shown_of(history, call.asked("version") or str(history[-1].document.version)).document)
    return await _page(call, text)


async def change_or_submit(call: Call) -> Page | See:
    """Changes a row of the text, tries it, or submits it and shows the approval that a second person decides on."""
    text, act = call.form.exactly("text"), call.form.get("act")
    if act == _SUBMIT:
        return await _submitted(call, text)
    try:
        document = read_toml(text)
        changed = _changed(act, document, call.form, await call.rooms[CampaignDesk].around())
    except DocumentFaults as error:
        return await _page(call, text, faults=error.faults)
    except Refused as fault:
        return await _page(call, text, form=call.form.shown().but(value=str(fault)))
    text = text if changed is document else toml_of(changed)
    return await _page(call, text, form=_kept(call.form, changes=changed is not document), act=act)


async def _submitted(call: Call, text: str) -> Page | See:
    desk = call.rooms[CampaignDesk]
    try:
        campaign = await desk.read(read_toml(text))
        call.check(Deed.EDIT_CAMPAIGNS, campaign.country)
        _, approval = await desk.propose(campaign, call.actor)
    except DocumentFaults as error:
        return await _page(call, text, faults=error.faults)
    except CannotDecide as fault:
        return await _page(call, text, fault=fault.detail)
    except Refused as fault:
        return await _page(call, text, fault=str(fault))
    return See(f"/approvals/{approval.approval_id}")


async def _page(
    call: Call,
    text: str,
    *,
    faults: Sequence[Fault] = (),
    form: Form = EMPTY,
    fault: str | None = None,
    act: str = "",
) -> DraftPage:
    """`act` may ask for a trial, which a text with faults does not get."""
    around, rows, event = await call.rooms[CampaignDesk].around(), None, ""
    sentences: Sequence[Sentence] = ()
    trials: Sequence[Trial] = ()
    try:
        document = read_toml(text)
        rows = _rows(document, around, form)
        campaign = await call.rooms[CampaignDesk].read(document, around)
        sentences = sentences_of(campaign)
        call.check(Deed.EDIT_CAMPAIGNS, campaign.country)
        form, _ = await asked_trial(call, act, form, campaign)
        event = example_event(campaign, call.now, currency_in(call, campaign.country))
        trials = await trials_of(call, campaign)
    except DocumentFaults as error:
        faults = error.faults
    if faults:
        form = form.but(text=f"{len(faults)} to mend: they are listed beside it.")
    return DraftPage(
        title="Draft a campaign",
        command="abacus campaigns publish FILE",
        text=text,
        rows=rows,
        faults=faults,
        sentences=sentences,
        trials=trials,
        event=event,
        form=form,
        fault=fault,
    )


def _rows(document: Mapping[str, Any], around: Surroundings, form: Form) -> Rows:
    types = _sides(document, around)
    chosen = form.get("lhs") or next(iter(types), "")
    operators = OPERATORS[types.get(chosen, VariableType.TEXT)]
    return Rows(
        conditions=conditions_in(document, WORDS),
        steps=steps_in(document),
        sides=[(text, f"{text} ({type_})") for text, type_ in types.items()],
        operators=[(each.value, WORDS[each.value]) for each in operators],
        webhooks=sorted(around.webhooks),
    )


def _sides(document: Mapping[str, Any], around: Surroundings) -> Mapping[str, VariableType]:
    """None while the types of events are at fault."""
    on = document.get("on")
    try:
        types = [event_type_of(str(each), around.sources) for each in on] if isinstance(on, list) else []
    except Bad:
        return {}
    return sides_there_are(Vocabulary(types, around.sources), around) if types else {}


def _changed(act: str, document: dict[str, Any], form: Form, around: Surroundings) -> Mapping[str, Any]:
    """The document after the act; the same one for an act that changes nothing. Raises `Refused`."""
    name, _, place = act.partition(":")
    match name:
        case "add-condition":
            return with_condition(document, _condition(form, _sides(document, around)))
        case "remove-condition":
            return without_condition(document, place)
        case "add-step":
            return with_step(document, _step(form))
        case "remove-step" if place.isdecimal():
            return without_step(document, int(place))
    return document


def _condition(form: Form, types: Mapping[str, VariableType]) -> Mapping[str, Any]:
    lhs, operator = form.get("lhs"), form.get("operator")
    if lhs not in types or operator not in OPERATORS[types[lhs]]:
        raise Refused(f"{WORDS.get(operator, operator or 'this')} does not fit {lhs or 'it'}")
    if not form.get("value") and operator != Operator.EXISTS:
        raise Refused("Write what to compare with.")
    return condition_of(lhs, Operator(operator), types[lhs], form.get("value"))


def _step(form: Form) -> Mapping[str, Any]:
    """Each time, at the nth event, or at every nth."""
    counts = {"at": {"at": whole(form.get("nth"))}, "every": {"every": whole(form.get("nth"))}}
    typed, deed = form.get("deed_value"), form.get("deed")
    deeds: Mapping[str, Mapping[str, Any]] = {
        "points": {"award": {"points": whole(typed)}},
        "multiple": {"award": {"multiple": typed}},
        "tell": {"tell": {"en": typed if "\n" in typed else f"{typed}\n{typed}"}},
        "call": {"call": typed},
    }
    if deed not in deeds or not typed:
        raise Refused("Say what is done, and how much.")
    later = {"after": form.get("after")} if form.get("after") else {}
    return {**counts.get(form.get("when"), {}), "do": [{**deeds[deed], **later}]}


def _kept(form: Form, *, changes: bool) -> Form:
    """What stays in the fields; the fields of an added row are empty again."""
    gone = {"value", "deed_value", "nth", "after", "text", "act"} if changes else {"text", "act"}
    shown = form.shown()
    return Form({name: value for name, value in shown.typed.items() if name not in gone}, shown.wrong)


SERVED: Final = (
    page("/campaigns-draft", draft, Deed.EDIT_CAMPAIGNS),
    form("/campaigns-draft", change_or_submit, Deed.EDIT_CAMPAIGNS),
)
