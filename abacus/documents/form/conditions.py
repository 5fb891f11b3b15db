"""The conditions of a rule as rows of controls, and the condition that was typed into one of them. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.documents.form.parts import Act, Control, Listing, Panel, Role, Spot, name_of
from abacus.documents.form.path import Path, written
from abacus.documents.form.types import Choices, Moment, Option, Rule, Side
from abacus.documents.form.values import constant, shown

OPERATORS: Final[Mapping[str, str]] = {
    "eq": "is",
    "ne": "is not",
    "lt": "is less than",
    "lte": "is at most",
    "gt": "is more than",
    "gte": "is at least",
    "in": "is one of",
    "between": "is between",
    "contains": "contains",
    "starts_with": "begins with",
    "exists": "is there",
}
GROUPS: Final[Mapping[str, str]] = {
    "and": "all of these hold",
    "or": "one of these holds",
    "not": "this does not hold",
}
_TURNS: Final = tuple(Option(value, words) for value, words in GROUPS.items())
_CALL: Final = re.compile(r"(?P<name>[^()]+)\((?P<argument>[^()]*)\)")
_UNKNOWN: Final = Side("", "", "text", ("eq", "ne", "in", "contains", "starts_with", "exists"))


def side_of(text: str, choices: Choices) -> Side:
    """The side that a text names, be it with another argument than the choices have; one of text where none is."""
    if text in choices.sides:
        return choices.sides[text]
    name = _name(text)
    for each in choices.sides.values():
        if each.argument is not None and _name(each.text) == name:
            return each._replace(text=text, argument=_argument(text))
    return _UNKNOWN


def inner(rule: Any) -> list[Any]:
    """The conditions of a group."""
    conditions = rule.get("conditions") if isinstance(rule, Mapping) else None
    return list(conditions) if isinstance(conditions, list | tuple) else []


def is_group(rule: Any) -> bool:
    return isinstance(rule, Mapping) and rule.get("operator") in GROUPS


class RuleView:
    """Shows rules, and notes their spots."""

    def __init__(self, choices: Choices, spots: list[Spot], zone: str) -> None:
        self._choices = choices
        self._spots = spots
        self._zone = zone

    def listing(self, path: Path, rule: Any, label: str, help_: str) -> Listing:
        """The whole rule: a group with its rows, or the only condition as one row."""
        at = written(path)
        if is_group(rule):
            clear = Act(f"remove:{at}", "Remove all", f"Remove all conditions of {label}")
            return self._group(path, rule, label, help_, acts=[clear], called=label)
        rows = [self._condition(path, rule, f"the condition of {label}")] if isinstance(rule, Mapping) and rule else []
        acts = [_add(at, label)]
        return Listing(path=at, label=label, rows=rows, acts=acts, help=help_, empty="None: it holds always.")

    def _group(
        self, path: Path, rule: Mapping[str, Any], label: str, help_: str, *, acts: Sequence[Act], called: str
    ) -> Listing:
        at, conditions = written(path), inner(rule)
        turn = Control(
            name=name_of(path, "turn"),
            path=written((*path, "operator")),
            label="What has to hold",
            value=str(rule["operator"]),
            input="select",
            options=_TURNS,
            updates=True,
        )
        self._spots.append(Spot(Role.TURN, path, Rule(), [turn]))
        rows = []
        for place, each in enumerate(conditions):
            here, count = (*path, "conditions", place), len(conditions)
            if is_group(each):
                it = f"group {place + 1} of {called}"
                of = self._group(here, each, "", "", acts=_acts(here, count, it), called=it)
                rows.append(Panel(path=written(here), label="", parts=[of]))
            else:
                rows.append(self._condition(here, each, f"condition {place + 1} of {called}", count))
        adds = [_add(at, called), *acts]
        return Listing(path=at, label=label, rows=rows, head=[turn], acts=adds, help=help_)

    def _condition(self, path: Path, condition: Any, called: str, count: int | None = None) -> Panel:
        """The only condition of a rule without a `count`."""
        table = condition if isinstance(condition, Mapping) else {}
        controls = self._controls(path, table)
        type_ = side_of(str(table.get("lhs", "")), self._choices).type
        self._spots.append(Spot(Role.CONDITION, path, Rule(self._zone), controls, type=type_))
        at = written(path)
        acts = _around(at, called) if count is None else _acts(path, count, called)
        return Panel(path=at, label="", parts=controls, acts=acts)

    def _controls(self, path: Path, table: Mapping[str, Any]) -> list[Control]:
        lhs, operator = str(table.get("lhs", "")), str(table.get("operator", ""))
        side = side_of(lhs, self._choices)
        controls = [
            Control(
                name=name_of(path, "lhs"),
                path=written((*path, "lhs")),
                label="Value",
                value=_name(lhs) if side.argument is not None else lhs,
                input="select",
                options=self._sides(lhs, side),
                required=True,
                updates=True,
            )
        ]
        if side.argument is not None:
            controls.append(
                Control(
                    name=name_of(path, "argument"),
                    path=written((*path, "lhs")),
                    label="Over",
                    value=side.argument,
                    help="today, week, month, or a length such as 7d or 24h",
                )
            )
        operators = [Option(each, OPERATORS.get(each, each)) for each in side.operators]
        if operator not in side.operators:
            operators = [Option(operator, OPERATORS.get(operator, operator or "choose")), *operators]
        controls.append(
            Control(
                name=name_of(path, "operator"),
                path=written((*path, "operator")),
                label="Comparison",
                value=operator,
                input="select",
                options=operators,
                updates=True,
            )
        )
        return [*controls, *self._constants(path, operator, side, table.get("rhs"))]

    def _sides(self, lhs: str, side: Side) -> list[Option]:
        options = [Option("", "choose")]
        for each in self._choices.sides.values():
            name = _name(each.text) if each.argument is not None else each.text
            options.append(Option(name, each.words, each.about))
        if lhs and side is _UNKNOWN:
            options.append(Option(lhs, lhs))
        return options

    def _constants(self, path: Path, operator: str, side: Side, rhs: object) -> list[Control]:
        if operator == "exists":
            return []
        at = written((*path, "rhs"))

        def one(place: int | None, label: str, value: object) -> Control:
            name = name_of(path, "rhs" if place is None else f"rhs{place}")
            text = shown(Moment(), value, self._zone) if side.type == "time" else shown(Rule(), value)
            if side.type == "boolean":
                options = [Option("true", "yes"), Option("false", "no")]
                options = options if text in {"true", "false"} else [Option(text, text or "choose"), *options]
                return Control(name=name, path=at, label=label, value=text, input="select", options=options)
            input_ = {"integer": "number", "decimal": "decimal", "time": "datetime-local"}.get(side.type, "text")
            return Control(name=name, path=at, label=label, value=text, input=input_, examples=side.examples)

        values = rhs if isinstance(rhs, list | tuple) else [] if rhs is None else [rhs]
        match operator:
            case "between":
                ends = [*values, None, None][:2]
                return [one(0, "From", ends[0]), one(1, "To", ends[1])]
            case "in":
                text = "\n".join(shown(Rule(), each) for each in values)
                name, lines = name_of(path, "rhs"), min(max(len(values) + 1, 2), 10)
                help_ = "One on each line."
                return [
                    Control(name=name, path=at, label="Values", value=text, input="textarea", lines=lines, help=help_)
                ]
        return [one(None, "With", rhs)]


def condition_of(
    before: Mapping[str, Any], spot: Spot, texts: Mapping[str, str], choices: Choices
) -> Mapping[str, Any]:
    """The condition that the controls of a spot say; `texts` has what was typed, by the last part of their names."""
    lhs, argument = texts.get("lhs", ""), texts.get("argument")
    named = next(
        (each for each in choices.sides.values() if each.argument is not None and _name(each.text) == lhs), None
    )
    if named is not None:
        lhs = f"{lhs}({named.argument if argument is None else argument})"
    side, operator = side_of(lhs, choices), texts.get("operator", "")
    if operator not in side.operators and side is not _UNKNOWN:
        operator = side.operators[0]
    condition: dict[str, Any] = {"operator": operator, "lhs": lhs}
    typed = [text for name, text in texts.items() if name.startswith("rhs")]
    if operator == "exists" or not (any(typed) or "rhs" in before):
        return condition
    zone = spot.of.zone or "UTC"
    match operator:
        case "in":
            lines = [line.strip() for text in typed for line in text.split("\n") if line.strip()]
            return {**condition, "rhs": [constant(side.type, each, zone) for each in lines]}
        case "between":
            ends = [line for text in typed for line in text.split("\n")]
            return {**condition, "rhs": [constant(side.type, each.strip(), zone) for each in [*ends, "", ""][:2]]}
    first = next(iter(typed), "").partition("\n")[0]
    return {**condition, "rhs": constant(side.type, first.strip(), zone)}


def _name(text: str) -> str:
    call = _CALL.fullmatch(text)
    return text if call is None else call["name"]


def _argument(text: str) -> str:
    call = _CALL.fullmatch(text)
    return "" if call is None else call["argument"]


def _acts(path: Path, count: int, called: str) -> list[Act]:
    at, place = written(path), path[-1]
    acts = [Act(f"up:{at}", "Up", f"Move {called} up")] if place else []
    acts += [Act(f"down:{at}", "Down", f"Move {called} down")] if place != count - 1 else []
    return [*acts, *_around(at, called)]


def _around(at: str, called: str) -> list[Act]:
    nest = Act(f"nest:{at}", "Group", f"Put {called} into a group")
    return [nest, Act(f"remove:{at}", "Remove", f"Remove {called}")]


def _add(at: str, called: str) -> Act:
    return Act(f"add:{at}", "Add a condition", f"Add a condition to {called}")
