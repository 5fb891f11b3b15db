"""The form of a campaign: its conditions and steps as rows, taken away and added one by one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.console.decide.campaign_rows import (
    condition_of,
    conditions_in,
    steps_in,
    with_condition,
    with_step,
    without_condition,
    without_step,
)
from abacus.console.decide.draft_form import DraftForm, FormField, RowList
from abacus.console.decide.sentences import OPERATORS as WORDS
from abacus.console.decide.typed import whole
from abacus.console.pages.drafts.editor import Edit
from abacus.console.web.forms import Form
from abacus.core.errors import Refused
from abacus.core.fields import Bad, Fault
from abacus.engage.campaigns.decide.publications import Publications
from abacus.engage.campaigns.decide.vocabulary import sides_there_are
from abacus.signals.events.decide.vocabulary import Vocabulary, event_type_of
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.document import OPERATORS
from abacus.signals.rules.decide.types import Operator

_EMPTIED: Final = ("value", "deed_value", "nth", "after")  # by an act that changes a row
_COUNTS: Final = (("each", "each time"), ("at", "at the event number"), ("every", "at every so many events"))
_DEEDS: Final = (
    ("points", "award points"),
    ("multiple", "award a multiple of what it earned"),
    ("tell", "tell the member"),
    ("call", "call a webhook"),
)


class CampaignEditor:
    """Rows that may be added are of left sides with their types, and of the operators that fit the chosen one."""

    def form(self, document: Mapping[str, Any], typed: Form, around: Publications) -> DraftForm:
        types = _sides(document, around)
        sides = [(text, f"{text} ({type_})") for text, type_ in types.items()]
        chosen = typed.get("lhs") or next(iter(types), "")
        operators = [(each.value, WORDS[each.value]) for each in OPERATORS[types.get(chosen, VariableType.TEXT)]]
        condition = [
            FormField("lhs", "Value", options=sides),
            FormField("operator", "Comparison", options=operators, follows="lhs"),
            FormField("value", "With", hint="Several with commas between."),
        ]
        step = [
            FormField("when", "When", options=_COUNTS),
            FormField("nth", "Number", inputmode="numeric"),
            FormField("deed", "What is done", options=_DEEDS),
            FormField("deed_value", "How much, or what"),
            FormField("after", "Later", hint="Such as 2h."),
        ]
        conditions = RowList(
            "Conditions",
            conditions_in(document, WORDS),
            condition if types else (),
            "add-condition",
            "None: every event counts.",
        )
        return DraftForm(lists=[conditions, RowList("Steps", steps_in(document), step, "add-step")])

    def edit(self, act: str, document: Mapping[str, Any], typed: Form, around: Publications) -> Edit:
        try:
            changed = _changed(act, document, typed, around)
        except Refused as fault:
            return Edit(None, typed.but(value=str(fault)))
        return Edit(changed, typed if changed is None else typed.shown(*_EMPTIED))

    def beside(self, _faults: Sequence[Fault]) -> Mapping[str, str]:
        return {}


def _sides(document: Mapping[str, Any], around: Publications) -> Mapping[str, VariableType]:
    """None while the types of events are at fault."""
    on = document.get("on")
    try:
        types = [event_type_of(str(each), around.sources) for each in on] if isinstance(on, list) else []
    except Bad:
        return {}
    return sides_there_are(Vocabulary(types, around.sources), around) if types else {}


def _changed(act: str, document: Mapping[str, Any], typed: Form, around: Publications) -> Mapping[str, Any] | None:
    """The document after the act; None for an act that changes nothing. Raises `Refused`."""
    name, _, place = act.partition(":")
    match name:
        case "add-condition":
            return with_condition(document, _condition(typed, _sides(document, around)))
        case "remove-condition":
            return without_condition(document, place)
        case "add-step":
            return with_step(document, _step(typed))
        case "remove-step" if place.isdecimal():
            return without_step(document, int(place))
    return None


def _condition(typed: Form, types: Mapping[str, VariableType]) -> Mapping[str, Any]:
    lhs, operator = typed.get("lhs"), typed.get("operator")
    if lhs not in types or operator not in OPERATORS[types[lhs]]:
        raise Refused(f"{WORDS.get(operator, operator or 'this')} does not fit {lhs or 'it'}")
    if not typed.get("value") and operator != Operator.EXISTS:
        raise Refused("Write what to compare with.")
    return condition_of(lhs, Operator(operator), types[lhs], typed.get("value"))


def _step(typed: Form) -> Mapping[str, Any]:
    """Each time, at the nth event, or at every nth."""
    counts = {"at": {"at": whole(typed.get("nth"))}, "every": {"every": whole(typed.get("nth"))}}
    value, deed = typed.get("deed_value"), typed.get("deed")
    deeds: Mapping[str, Mapping[str, Any]] = {
        "points": {"award": {"points": whole(value)}},
        "multiple": {"award": {"multiple": value}},
        "tell": {"tell": {"en": value if "\n" in value else f"{value}\n{value}"}},
        "call": {"call": value},
    }
    if deed not in deeds or not value:
        raise Refused("Say what is done, and how much.")
    later = {"after": typed.get("after")} if typed.get("after") else {}
    return {**counts.get(typed.get("when"), {}), "do": [{**deeds[deed], **later}]}
