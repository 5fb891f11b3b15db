"""Trials of a draft of a journey: one member is followed through it, or many of a segment. Both enter alike."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from abacus.console.decide.form_field import FormField
from abacus.console.decide.journey_trials import went, would_take
from abacus.console.pages.drafts.draft_kind import TrialKind, TrialOrder
from abacus.console.pages.drafts.trial_events import event_field, read_json, transaction
from abacus.console.pages.journeys.context_fields import context_fields, context_of
from abacus.console.pages.journeys.later_events import Sources, later_events, later_fields
from abacus.console.pages.journeys.variable_fields import MINUTES, moment_of
from abacus.console.web.calls import Call
from abacus.console.web.forms import Form, WrongForm
from abacus.engage.journeys.decide.journey import Journey
from abacus.signals.events.decide.source import TRANSACTIONS

_EVENT_FILE: Final = "event.json"
_CONTEXT_FILE: Final = "context.json"
_THEN_FILE: Final = "then.json"
_LATER: Final = timedelta(days=1)  # than the entry; so an example has it


def _entry_fields(call: Call, journey: Journey) -> Sequence[FormField]:
    """What the entry needs: when, by which event, and with which context."""
    fields = [
        FormField(
            "at",
            "When it enters",
            _begins(call, journey).strftime(MINUTES),
            type="datetime-local",
            hint=str(journey.zone),
        )
    ]
    if journey.entry.on:
        fields.append(event_field(call, journey.country, journey.zone))
    return [*fields, *context_fields(journey)]


def _begins(call: Call, journey: Journey) -> datetime:
    return max(call.now, journey.starts_at).astimezone(journey.zone)


def _member_fields(sources: Sources, call: Call, journey: Journey) -> Sequence[FormField]:
    hint = "Its id; without one that of the event." if journey.entry.on else "Its id."
    member = FormField("member", "Member", "" if journey.entry.on else "bob", hint=hint)
    later = later_fields(journey, sources, _begins(call, journey))
    return [member, *_entry_fields(call, journey), *later, *_then_fields(call, journey)]


def _then_fields(call: Call, journey: Journey) -> Sequence[FormField]:
    """What else happens after the entry, for a journey that hears of it."""
    heard = sorted(journey.heard)
    if not heard:
        return []
    hint = "More events, or others: a list of them, each at its time. Without any, the clock ends all waits."
    example = json.dumps([_message(call, journey, *heard[0], _begins(call, journey) + _LATER)], indent=2)
    return [FormField("then", "And then, as JSON", type="textarea", hint=hint, example=example)]


def _message(call: Call, journey: Journey, source: str, type_: str, at: datetime) -> dict[str, Any]:
    """An event as its topic has it, or else as it is posted."""
    if source == TRANSACTIONS:
        return {**transaction(call, journey.country, at, number=2), "type": type_}
    said = {"source": source, "type": type_, "id": "E-2", "member_id": "bob", "country": journey.country}
    return {**said, "occurred_at": at.isoformat(timespec="seconds"), "var": {}}


def _segment_fields(_: Call, __: Journey) -> Sequence[FormField]:
    return [FormField("segment", "Segment", hint="Its name.")]


def _entered(typed: Form, journey: Journey) -> TrialOrder:
    """The options of the entry. Raises `WrongForm`."""
    options, papers = [], {}
    at = moment_of(typed.get("at"), journey.zone)
    if at is None:
        raise WrongForm(typed.but(at="Write a time as 2026-11-23T10:00."))
    options.append(f"--at={at}")
    if journey.entry.on:
        options.append(f"--event={_EVENT_FILE}")
        papers[_EVENT_FILE] = read_json(typed, "event")
    if journey.context:
        options.append(f"--context={_CONTEXT_FILE}")
        papers[_CONTEXT_FILE] = json.dumps(context_of(typed, journey))
    return TrialOrder(tuple(options), papers)


def _simulation(sources: Sources, typed: Form, journey: Journey) -> TrialOrder:
    member, (options, papers) = typed.get("member"), _entered(typed, journey)
    if not member and not journey.entry.on:
        raise WrongForm(typed.but(member="Say whom."))
    if then := [*map(json.dumps, later_events(typed, journey, sources, member)), *_then(typed)]:
        options, papers = (*options, f"--then={_THEN_FILE}"), {**papers, _THEN_FILE: f"[{', '.join(then)}]"}
    return TrialOrder((*([f"--member={member}"] if member else []), *options), papers)


def _then(typed: Form) -> list[str]:
    """What was typed of a list of events, or as one event. Raises `WrongForm`."""
    if not typed.get("then"):
        return []
    text = read_json(typed, "then")
    event = text.strip()[1:-1].strip() if isinstance(json.loads(text), list) else text
    return [event] if event else []


def _dry_run(typed: Form, journey: Journey) -> TrialOrder:
    segment, (options, papers) = typed.get("segment"), _entered(typed, journey)
    if not segment:
        raise WrongForm(typed.but(segment="Say whose members are looked at."))
    return TrialOrder((f"--segment={segment}", *options), papers)


def journey_trials(sources: Sources) -> Sequence[TrialKind[Journey]]:
    """With fields for events of these sources."""
    return (
        TrialKind(
            act="simulate",
            errand="journey-simulate",
            title="Which way one member would go",
            button="Simulate",
            fields=partial(_member_fields, sources),
            order=partial(_simulation, sources),
            words=went,
            note="Each decision with its value. What is known of the member stays as it is now.",
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


TRIALS: Final = journey_trials({})
