"""Trials of a draft of a journey: one member is followed through it, or many of a segment. Both enter alike."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.console.decide.form_field import FormField
from abacus.console.decide.journey_trials import went, would_take
from abacus.console.pages.drafts.draft_kind import TrialKind, TrialOrder
from abacus.console.pages.drafts.trial_events import event_field, read_json
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.engage.journeys.decide.journey import Journey
from abacus.signals.events.types import VariableType

_EVENT_FILE: Final = "event.json"
_CONTEXT_FILE: Final = "context.json"
_CONTEXT: Final = "context-"  # before the name of a field of it
_MINUTES: Final = "%Y-%m-%dT%H:%M"
_WHOLE: Final = re.compile("-?[0-9]{1,19}")
_OF_TYPE: Final[Mapping[VariableType, str]] = {
    VariableType.TEXT: "A text.",
    VariableType.INTEGER: "A whole number.",
    VariableType.DECIMAL: "A number, such as 12.50.",
    VariableType.BOOLEAN: "true or false.",
    VariableType.TIME: "A time, such as 2026-11-23T10:00:00+08:00.",
    VariableType.TEXTS: "Texts, with commas between.",
}


def _entry_fields(call: Call, journey: Journey) -> Sequence[FormField]:
    """What the entry needs: when, by which event, and with which context."""
    begins = max(call.now, journey.starts_at).astimezone(journey.zone)
    fields = [
        FormField("at", "When it enters", begins.strftime(_MINUTES), type="datetime-local", hint=str(journey.zone))
    ]
    if journey.entry.on:
        fields.append(event_field(call, journey.country, journey.zone))
    return [
        *fields,
        *(
            FormField(f"{_CONTEXT}{name}", f"context.{name}", hint=_OF_TYPE[type_])
            for name, type_ in journey.context.items()
        ),
    ]


def _member_fields(call: Call, journey: Journey) -> Sequence[FormField]:
    return [FormField("member", "Member", "" if journey.entry.on else "bob"), *_entry_fields(call, journey)]


def _segment_fields(_: Call, __: Journey) -> Sequence[FormField]:
    return [FormField("segment", "Segment", hint="Its name.")]


def _entered(typed: Form, journey: Journey) -> TrialOrder:
    """The options of the entry. Raises `WrongForm`."""
    options, papers = [], {}
    try:
        at = datetime.strptime(typed.get("at"), _MINUTES).replace(tzinfo=journey.zone)
    except ValueError:
        raise WrongForm(typed.but(at="Write a time as 2026-11-23T10:00.")) from None
    options.append(f"--at={at.isoformat()}")
    if journey.entry.on:
        options.append(f"--event={_EVENT_FILE}")
        papers[_EVENT_FILE] = read_json(typed, "event")
    if journey.context:
        context = {name: _value(typed.get(f"{_CONTEXT}{name}"), type_) for name, type_ in journey.context.items()}
        options.append(f"--context={_CONTEXT_FILE}")
        papers[_CONTEXT_FILE] = json.dumps(context)
    return TrialOrder(tuple(options), papers)


def _simulation(typed: Form, journey: Journey) -> TrialOrder:
    member, (options, papers) = typed.get("member"), _entered(typed, journey)
    if not member and not journey.entry.on:
        raise WrongForm(typed.but(member="Say whom."))
    return TrialOrder((*([f"--member={member}"] if member else []), *options), papers)


def _dry_run(typed: Form, journey: Journey) -> TrialOrder:
    segment, (options, papers) = typed.get("segment"), _entered(typed, journey)
    if not segment:
        raise WrongForm(typed.but(segment="Say whose members are looked at."))
    return TrialOrder((f"--segment={segment}", *options), papers)


def _value(text: str, type_: VariableType) -> object:
    """As JSON has it; what does not fit its type stays a text, which the trial refuses by its name."""
    match type_:
        case VariableType.INTEGER if _WHOLE.fullmatch(text):
            return int(text)
        case VariableType.BOOLEAN if text in {"true", "false"}:
            return text == "true"
        case VariableType.TEXTS:
            return [each.strip() for each in text.split(",") if each.strip()]
        case _:
            return text


TRIALS: Final = (
    TrialKind(
        act="simulate",
        errand="journey-simulate",
        title="Which way one member would go",
        button="Simulate",
        fields=_member_fields,
        order=_simulation,
        words=went,
        note="Each decision with its value. Waits are over by the clock; what is known of the member stays as it is.",
    ),
    TrialKind(
        act="dry-run",
        errand="journey-dry-run",
        title="How many would take each way",
        button="Dry run",
        fields=_segment_fields,
        order=_dry_run,
        words=would_take,
        note="They enter as the member beside would. Of a large segment a sample of 1,000 members is looked at.",
    ),
)
