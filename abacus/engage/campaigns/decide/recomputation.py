"""A rule decided once more by the values that an explanation kept, or by the event itself. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, NamedTuple

from abacus.engage.campaigns.decide.conditions import MOST_KEPT, condition_text, read_value, value_text
from abacus.signals.events.types import Event, Value
from abacus.signals.rules.decide.compiler import compile_rule
from abacus.signals.rules.decide.plan import value_of
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Not, Origin, Rule

Kept = Sequence[tuple[str, str]]  # each condition that was looked at, and the value of its left side

_KEPT: Final = Origin("kept", cost=0)


class _NoFacts(NamedTuple):
    """Facts that tell nothing."""

    variables: Mapping[str, Value] = MappingProxyType({})


class Recomputed(NamedTuple):
    """Whether the rule holds; None where what was kept does not tell. `faults` are conditions that are not the rule's,
    and values that are not the event's, or of another type.
    """

    holds: bool | None
    faults: Sequence[str]


def recompute(rule: Rule | None, kept: Kept, event: Event | None = None) -> Recomputed:
    """Decides a rule by the values that were kept; what the event tells is taken from the event, where there is one."""
    conditions: dict[str, list[Condition]] = {}  # some are written alike
    for each in _conditions(rule):
        conditions.setdefault(condition_text(each), []).append(each)
    faults: list[str] = []
    outcomes: dict[Condition, bool | None] = {}
    for text, value in kept:
        if text not in conditions:
            faults.append(f"{text} is no condition of it")
        for condition in conditions.get(text, ()):
            try:
                possible = {_holds(condition, each) for each in _values(condition, value, event)}
            except ValueError as fault:
                faults.append(f"{text}: {fault}")
            else:
                outcomes[condition] = possible.pop() if len(possible) == 1 else None
    holds = _outcome(rule, outcomes) if rule is not None else True
    if holds is None and not faults and not _tells_too_little(kept, outcomes):
        missing = next(text for text, some in conditions.items() if not outcomes.keys() & set(some))
        faults.append(f"it takes more than was kept, such as {missing}")
    return Recomputed(holds, faults)


def _tells_too_little(kept: Kept, outcomes: Mapping[Condition, bool | None]) -> bool:
    return len(kept) >= MOST_KEPT or None in outcomes.values()


def _values(condition: Condition, kept: str, event: Event | None) -> Sequence[Value | None]:
    """The values that the left side may have had. Raises `ValueError`."""
    side = condition.lhs
    if event is None or side.is_looked_up:
        return read_value(kept, side.type)
    value = value_of(side, event)
    if value_text(value) != kept:
        raise ValueError(f"it was {kept}, and the event has {value_text(value)}")
    return (value,)


def _holds(condition: Condition, value: Value | None) -> bool:
    side = replace(condition.lhs, place=_KEPT)
    known = {side.text: value} if value is not None else {}
    return compile_rule(replace(condition, lhs=side))(_NoFacts(), known)


def _conditions(rule: Rule | None) -> Iterator[Condition]:
    match rule:
        case Condition():
            yield rule
        case Not(inner):
            yield from _conditions(inner)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from _conditions(part)


def _outcome(rule: Rule, outcomes: Mapping[Condition, bool | None]) -> bool | None:
    """The outcome, where what is known settles it."""
    match rule:
        case Condition():
            return outcomes.get(rule)
        case Not(inner):
            outcome = _outcome(inner, outcomes)
            return None if outcome is None else not outcome
        case AllOf(parts) | AnyOf(parts):
            of_parts = [_outcome(part, outcomes) for part in parts]
            decisive = isinstance(rule, AnyOf)
            if decisive in of_parts:
                return decisive
            return None if None in of_parts else not decisive
