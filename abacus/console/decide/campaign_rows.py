"""The rows of a campaign that is being written: its conditions and steps, taken away and added one by one. Pure.

A document may have any faults; what is no such row stays as it is.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from abacus.console.decide.draft_form import FormRow
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.types import Operator

Document = Mapping[str, Any]
_GROUPS: Final = ("and", "or")
_TEXTS: Final = (VariableType.TEXT, VariableType.TEXTS, VariableType.TIME)


def conditions_in(document: Document, operators: Mapping[str, str]) -> list[FormRow]:
    """`operators` are the words for each operator."""
    rule = document.get("when")
    return _rows(rule, "", 0, operators) if isinstance(rule, Mapping) and rule else []


def _rows(rule: Document, place: str, depth: int, operators: Mapping[str, str]) -> list[FormRow]:
    operator = str(rule.get("operator", ""))
    if operator in _GROUPS or operator == "not":
        words = {"and": "all of these", "or": "one of these", "not": "not"}[operator]
        inner = [each for each in _inside(rule) if isinstance(each, Mapping)]
        found = [_row(place, depth, words)]
        for number, each in enumerate(inner):
            found += _rows(each, f"{place}.{number}".lstrip("."), depth + 1, operators)
        return found
    words = " ".join(filter(None, (str(rule.get("lhs", "")), operators.get(operator, operator), said(rule.get("rhs")))))
    return [_row(place, depth, words)]


def _row(place: str, depth: int, words: str) -> FormRow:
    """`place` names the condition in its document, such as `0.1`."""
    return FormRow(words, f"remove-condition:{place}", depth)


def with_condition(document: Document, condition: Document) -> dict[str, Any]:
    """The condition has to hold beside the document's own."""
    rule = document.get("when")
    if not isinstance(rule, Mapping) or not rule:
        return _ordered({**document, "when": dict(condition)})
    if rule.get("operator") == "and":
        return {**document, "when": {**rule, "conditions": [*_inside(rule), dict(condition)]}}
    return {**document, "when": {"operator": "and", "conditions": [dict(rule), dict(condition)]}}


def without_condition(document: Document, place: str) -> dict[str, Any]:
    """A group of one is that one, and an empty one is none."""
    rule = document.get("when")
    path = [int(each) for each in place.split(".") if each.isdecimal()]
    left = _without(rule, path) if isinstance(rule, Mapping) else None
    return {**document, "when": left} if left else {name: each for name, each in document.items() if name != "when"}


def _without(rule: Any, path: Sequence[int]) -> Any:
    if not path:
        return None
    inner = _inside(rule)
    if path[0] >= len(inner):
        return rule
    left = [_without(each, path[1:]) if number == path[0] else each for number, each in enumerate(inner)]
    left = [each for each in left if each is not None]
    if not left:
        return None
    return left[0] if len(left) == 1 and rule.get("operator") in _GROUPS else {**rule, "conditions": left}


def condition_of(lhs: str, operator: Operator, type_: VariableType, typed: str) -> dict[str, Any]:
    """The condition, its constant as the type has it; what cannot be read so stays text, for the fault to name it."""
    condition: dict[str, Any] = {"operator": operator.value, "lhs": lhs}
    match operator:
        case Operator.EXISTS:
            return condition
        case Operator.IN:
            return {**condition, "rhs": [_constant(type_, each) for each in _listed(typed)]}
        case Operator.BETWEEN:
            ends = typed.replace(" and ", ",")
            return {**condition, "rhs": [_constant(type_, each) for each in _listed(ends)]}
        case _:
            return {**condition, "rhs": _constant(type_, typed)}


def steps_in(document: Document) -> list[FormRow]:
    steps = document.get("steps")
    return [
        FormRow(f"{_count(step)}: {', '.join(_deeds(step))}", f"remove-step:{place}")
        for place, step in enumerate(steps if isinstance(steps, list | tuple) else ())
        if isinstance(step, Mapping)
    ]


def with_step(document: Document, step: Document) -> dict[str, Any]:
    steps = document.get("steps")
    return _ordered({**document, "steps": [*(steps if isinstance(steps, list | tuple) else ()), dict(step)]})


def without_step(document: Document, place: int) -> dict[str, Any]:
    steps = document.get("steps")
    left = [each for number, each in enumerate(steps) if number != place] if isinstance(steps, list | tuple) else []
    return {**document, "steps": left} if left else {name: each for name, each in document.items() if name != "steps"}


def _inside(rule: Any) -> list[Any]:
    conditions = rule.get("conditions") if isinstance(rule, Mapping) else None
    return list(conditions) if isinstance(conditions, list | tuple) else []


def _constant(type_: VariableType, typed: str) -> object:
    match type_:
        case VariableType.BOOLEAN:
            return {"true": True, "yes": True, "false": False, "no": False}.get(typed.lower(), typed)
        case VariableType.INTEGER:
            return int(typed) if typed.removeprefix("-").isdecimal() and typed.isascii() else typed
        case _ if type_ in _TEXTS:
            return typed
    try:
        return str(Decimal(typed))
    except InvalidOperation:
        return typed


def _listed(typed: str) -> list[str]:
    return [each.strip() for each in typed.split(",") if each.strip()]


def said(rhs: object) -> str:
    """A constant in words."""
    match rhs:
        case None:
            return ""
        case bool():
            return str(rhs).lower()
        case list() | tuple():
            return ", ".join(map(str, rhs))
    return str(rhs)


def _count(step: Document) -> str:
    arm = f" in the arm {step['variant']}" if "variant" in step else ""
    if "at" in step:
        return f"at event {step['at']}{arm}"
    return f"at every {step['every']} events{arm}" if "every" in step else f"each time{arm}"


def _deeds(step: Document) -> list[str]:
    deeds = step.get("do")
    found = []
    for each in deeds if isinstance(deeds, list | tuple) else ():
        if isinstance(each, Mapping):
            later = f" after {each['after']}" if "after" in each else f" at {each['at']}" if "at" in each else ""
            words = (f"{name} {_inner(value)}" for name, value in each.items() if name not in {"after", "at"})
            found.append("; ".join(words) + later)
    return found


def _inner(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_inner(inner)}" for name, inner in value.items())
    return str(value).partition("\n")[0]


def _ordered(document: dict[str, Any]) -> dict[str, Any]:
    """Limits stand last, as people write them."""
    if "limits" in document:
        document["limits"] = document.pop("limits")
    return document
