"""Rules as JSON: read with every fault and its path, typed by their left sides, and written again. Pure."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Final

from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, quoted, shown, string
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.constants import constant_document, read_constant
from abacus.signals.rules.decide.sides import Resolver
from abacus.signals.rules.decide.types import AllOf, AnyOf, Condition, Not, Operator, Rule, Side

MAX_DEPTH: Final = 12  # of rules within rules
MAX_SIZE: Final = 300  # conditions and groups of a rule together
_FIELDS: Final = ("operator", "lhs", "rhs", "conditions")


class _Group(StrEnum):
    AND = "and"
    OR = "or"
    NOT = "not"


_OPERATORS: Final[Mapping[str, _Group | Operator]] = {each.value: each for each in (*_Group, *Operator)}
_ORDERED: Final = (
    Operator.EQ,
    Operator.NE,
    Operator.LT,
    Operator.LTE,
    Operator.GT,
    Operator.GTE,
    Operator.BETWEEN,
    Operator.EXISTS,
)
OPERATORS: Final[Mapping[VariableType, tuple[Operator, ...]]] = {
    VariableType.TEXT: (
        Operator.EQ,
        Operator.NE,
        Operator.IN,
        Operator.CONTAINS,
        Operator.STARTS_WITH,
        Operator.EXISTS,
    ),
    VariableType.INTEGER: (*_ORDERED, Operator.IN),
    VariableType.DECIMAL: (*_ORDERED, Operator.IN),
    VariableType.TIME: _ORDERED,
    VariableType.BOOLEAN: (Operator.EQ, Operator.NE, Operator.EXISTS),
    VariableType.TEXTS: (Operator.CONTAINS, Operator.EXISTS),
}


def parse_rule(document: object, resolve: Resolver, *, path: str = "when") -> Rule:
    """The rule of a document. Raises `DocumentFaults` with every fault that it has, each with its path from `path` on;
    of a rule that is too large or too deep, with that one; and with none, where a left side cannot be judged.
    """
    too_much = _too_much(document)
    faults = [Fault(path, too_much)] if too_much else []
    rule = None if faults else _Reading(resolve, faults).rule(document, path)
    if rule is None or faults:
        raise DocumentFaults(faults)
    return rule


def rule_document(rule: Rule) -> dict[str, object]:
    """The rule as JSON holds it. `parse_rule` makes the same rule of it again."""
    match rule:
        case AllOf(conditions):
            return {"operator": _Group.AND.value, "conditions": [rule_document(each) for each in conditions]}
        case AnyOf(conditions):
            return {"operator": _Group.OR.value, "conditions": [rule_document(each) for each in conditions]}
        case Not(condition):
            return {"operator": _Group.NOT.value, "conditions": [rule_document(condition)]}
        case Condition(operator, lhs, rhs):
            document: dict[str, object] = {"operator": operator.value, "lhs": lhs.text}
            return document if operator is Operator.EXISTS else {**document, "rhs": constant_document(rhs)}


def restore_document(document: object, *, path: str = "when") -> dict[str, object]:
    """The document of a rule as `rule_document` wrote it: some stores keep the fields of JSON in an order of theirs.
    Raises `DocumentFaults` for a rule that only a newer Abacus can read.
    """
    if not isinstance(document, Mapping) or not document.keys() <= set(_FIELDS):
        raise DocumentFaults([Fault(path, "not a rule that this version knows")])
    fields = {name: document[name] for name in _FIELDS if name in document}
    if fields.get("operator") not in _OPERATORS:
        raise DocumentFaults([Fault(f"{path}.operator", f"{fields.get('operator')!r} is not known to this version")])
    inner = fields.get("conditions")
    if isinstance(inner, list):
        fields["conditions"] = [
            restore_document(each, path=f"{path}.conditions[{place}]") for place, each in enumerate(inner)
        ]
    return fields


def _too_much(document: object) -> str | None:
    waiting, size = [(document, 1)], 0
    while waiting:
        size += 1
        each, depth = waiting.pop()
        if depth > MAX_DEPTH:
            return f"rules stand more than {MAX_DEPTH} deep in each other"
        inner = each.get("conditions") if isinstance(each, Mapping) else None
        if isinstance(inner, list | tuple):
            if size + len(waiting) + len(inner) > MAX_SIZE:
                return f"more than {MAX_SIZE} conditions and groups of conditions"
            waiting += ((one, depth + 1) for one in inner)
    return None


class _Reading:
    """Reads a rule from the top down. None stands for a part that has a fault, which is noted."""

    def __init__(self, resolve: Resolver, faults: list[Fault]) -> None:
        self._resolve = resolve
        self._faults = faults

    def rule(self, document: object, path: str) -> Rule | None:
        if not isinstance(document, Mapping):
            self._faults.append(Fault(path, f"{shown(document)}; write a table with an operator"))
            return None
        table = Fields(document, path, self._faults)
        match table.read("operator", _operator, None):
            case None:
                return None
            case Operator() as operator:
                rule = self._condition(operator, table)
            case group:
                rule = self._group(group, table, path)
        table.refuse_unknown()
        return rule

    def _group(self, group: _Group, table: Fields, path: str) -> Rule | None:
        nothing: Sequence[object] = ()
        documents = table.read("conditions", _one if group is _Group.NOT else _some, nothing)
        read = [self.rule(each, f"{path}.conditions[{place}]") for place, each in enumerate(documents)]
        sound = tuple(each for each in read if each is not None)
        if not sound or len(sound) < len(read):
            return None
        if group is _Group.NOT:
            return Not(sound[0])
        return AllOf(sound) if group is _Group.AND else AnyOf(sound)

    def _condition(self, operator: Operator, table: Fields) -> Rule | None:
        side = table.read("lhs", self._side, None)
        if side is not None and operator not in OPERATORS[side.type]:
            allowed = ", ".join(OPERATORS[side.type])
            table.note("operator", f"{operator} does not go with {side.text}, of type {side.type}; write {allowed}")
            side = None
        if side is None:
            table.read_if_there("rhs", _anything, None)
            return None
        if operator is Operator.EXISTS:
            table.read_if_there("rhs", _nothing, None)
            return Condition(operator, side)
        rhs = table.read("rhs", partial(read_constant, operator, side.type), None)
        return None if rhs is None else Condition(operator, side, rhs)

    def _side(self, value: object) -> Side | None:
        return self._resolve(string(value))


def _operator(value: object) -> Operator | _Group:
    text = string(value)
    if (operator := _OPERATORS.get(text)) is not None:
        return operator
    raise Bad(f"{quoted(text)} is not an operator; write one of {', '.join(_OPERATORS)}")


def _some(value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple) or not value:
        raise Bad("write an array of at least one condition")
    return value


def _one(value: object) -> Sequence[object]:
    if not isinstance(value, list | tuple) or len(value) != 1:
        raise Bad("write an array of one condition; `not` turns that one around")
    return value


def _nothing(_: object) -> None:
    raise Bad("`exists` compares with nothing; leave it out")


def _anything(_: object) -> None:
    """It cannot be judged before the left side and the operator are mended."""
