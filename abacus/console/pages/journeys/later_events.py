"""Events that are assumed to happen to a member later, as people type them: what happens, when, and the variables that
the journey looks at.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from abacus.console.decide.form_field import FormField
from abacus.console.pages.journeys.variable_fields import MINUTES, moment_of, variable_field, variable_of
from abacus.console.web.forms import Form, WrongForm
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.node import RuleDocument, Wait
from abacus.signals.events.decide.source import Source
from abacus.signals.events.decide.values import READERS, Wrong
from abacus.signals.events.decide.vocabulary import EventType
from abacus.signals.events.types import VariableType

_MOST: Final = 3
_LATER: Final = timedelta(days=1)  # than what happens before
_VARIABLE: Final = "var."
_SOMEBODY: Final = "somebody"  # the member of the entry takes the place

Sources = Mapping[str, Source]
Variables = Mapping[str, VariableType]


def later_fields(journey: Journey, sources: Sources, entered_at: datetime) -> Sequence[FormField]:
    """Of as many events as are mostly enough."""
    types = sorted(journey.heard)
    if not types:
        return []
    options = [("", "nothing more"), *((f"{source}/{type_}", f"{type_} ({source})") for source, type_ in types)]
    variables = {name: kind for each in types for name, kind in _variables(journey, sources, each).items()}
    fields: list[FormField] = []
    for number in range(1, _MOST + 1):
        name, event, at = f"then-{number}", f"Event {number}", entered_at + number * _LATER
        fields += [
            FormField(name, event, options=options, hint="What the member does afterwards."),
            FormField(
                f"{name}-at",
                f"{event}: when",
                at.strftime(MINUTES),
                type="datetime-local",
                hint=str(journey.zone),
            ),
            *(
                variable_field(f"{name}-{variable}", f"{event}: {variable.replace('_', ' ')}", kind, journey.zone)
                for variable, kind in variables.items()
            ),
        ]
    return fields


def later_events(typed: Form, journey: Journey, sources: Sources, member: str) -> list[dict[str, Any]]:
    """As they are posted. Raises `WrongForm` with all that is wrong."""
    types, events, wrong = {"/".join(each): each for each in journey.heard}, list[dict[str, Any]](), dict[str, str]()
    for number in range(1, _MOST + 1):
        name = f"then-{number}"
        if not (chosen := typed.get(name)):
            continue
        if chosen not in types:
            wrong[name] = "Choose one of the list."
            continue
        at = moment_of(typed.get(f"{name}-at"), journey.zone)
        if at is None:
            wrong[f"{name}-at"] = "Write a time as 2026-11-23T10:00."
        variables: dict[str, object] = {}
        for variable, kind in _variables(journey, sources, types[chosen]).items():
            if text := typed.get(field := f"{name}-{variable}"):
                variables[variable] = variable_of(text, kind, journey.zone)
                try:
                    READERS[kind](variables[variable])
                except Wrong as fault:
                    wrong[field] = f"{str(fault).capitalize()}."
        source, type_ = types[chosen]
        said = {"source": source, "type": type_, "id": f"then-{number}", "country": journey.country}
        events.append({**said, "member_id": member or _SOMEBODY, "occurred_at": at, "var": variables})
    if wrong:
        raise WrongForm(typed.but(**wrong))
    return events


def _variables(journey: Journey, sources: Sources, type_: EventType) -> Variables:
    """The variables of the type that rules of such events look at."""
    source, name = type_
    there = sources[source].types.get(name, {}) if source in sources else {}
    looked_at = {side for rule in _rules(journey, type_) for side in _sides(rule)}
    return {variable: kind for variable, kind in there.items() if f"{_VARIABLE}{variable}" in looked_at}


def _rules(journey: Journey, type_: EventType) -> Iterator[RuleDocument]:
    """By which such an event ends a visit or a wait."""
    waits = [node.part for node in journey.nodes.values() if isinstance(node.part, Wait)]
    occasions = [(each.on, each.when) for each in journey.exits]
    occasions += [(each.until_event.on, each.until_event.when) for each in waits if each.until_event is not None]
    yield from (when for on, when in occasions if type_ in on and when is not None)


def _sides(rule: Mapping[str, Any]) -> Iterator[str]:
    for each in rule.get("conditions", ()):
        yield from _sides(each)
    if "lhs" in rule:
        yield rule["lhs"]
