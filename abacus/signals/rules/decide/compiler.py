"""A rule as a Python function, by way of a syntax tree that holds nothing but what is listed here. Pure.

No text of a rule becomes code: names of variables and constants stand in the tree as constants, or in the function's
own globals where Python has no literal for them.
"""

import ast
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Protocol

from abacus.signals.events.types import Value
from abacus.signals.rules.decide.types import (
    AllOf,
    AnyOf,
    Condition,
    Constant,
    FactPlace,
    Facts,
    Not,
    Operator,
    Origin,
    Rule,
    Side,
)

_NOTHING: Final[Mapping[str, Value]] = MappingProxyType({})
_NODES: Final = (
    ast.Expression,
    ast.Lambda,
    ast.arguments,
    ast.arg,
    ast.BoolOp,
    ast.And,
    ast.Or,
    ast.UnaryOp,
    ast.Not,
    ast.Compare,
    ast.cmpop,
    ast.NamedExpr,
    ast.Name,
    ast.expr_context,
    ast.Attribute,
    ast.Call,
    ast.Constant,
)
_METHODS: Final = frozenset({"variables", "get", "startswith", "lies_in"})
_COMPARISONS: Final[Mapping[Operator, type[ast.cmpop]]] = {
    Operator.EQ: ast.Eq,
    Operator.NE: ast.NotEq,
    Operator.LT: ast.Lt,
    Operator.LTE: ast.LtE,
    Operator.GT: ast.Gt,
    Operator.GTE: ast.GtE,
}
_PLACE: Final = {"lineno": 1, "end_lineno": 1, "col_offset": 0, "end_col_offset": 0}
_MOST_RULES: Final = 20_000  # that stay compiled


class Compiled(Protocol):
    """Whether the rule holds for facts, with the values that were looked up beside them, by the texts of their left
    sides. Raises `TypeError` or `AttributeError` where a value has another type than its left side.
    """

    def __call__(self, facts: Facts, looked_up: Mapping[str, Value] = ..., /) -> bool: ...


@lru_cache(maxsize=_MOST_RULES)
def compile_rule(rule: Rule) -> Compiled:
    """The function of a rule. Equal rules share one."""
    constants = _Constants()
    tree = ast.Expression(
        ast.Lambda(
            args=ast.arguments(
                posonlyargs=[ast.arg("facts"), ast.arg("looked_up")],
                args=[],
                kwonlyargs=[],
                kw_defaults=[],
                defaults=[constants.name(_NOTHING)],
            ),
            body=_expression(rule, constants),
        )
    )
    code = compile(_checked(tree, constants.fields), "<rule>", "eval")
    function: Compiled = eval(code, {"__builtins__": {}, **constants.values})  # noqa: S307  # a tree of our own, checked
    return function


class _Constants:
    """The constants for which Python has no literal, by the names that stand for them; and the fields of the facts
    that the rule looks at.
    """

    def __init__(self) -> None:
        self.values: dict[str, object] = {}
        self.fields: set[str] = set()

    def node(self, constant: Constant) -> ast.expr:
        return ast.Constant(constant) if isinstance(constant, str | int) else self.name(constant)

    def name(self, constant: object) -> ast.expr:
        name = f"constant_{len(self.values)}"
        self.values[name] = constant
        return _load(name)


def _expression(rule: Rule, constants: _Constants) -> ast.expr:
    match rule:
        case AllOf(conditions):
            return _joined(ast.And(), [_expression(each, constants) for each in conditions])
        case AnyOf(conditions):
            return _joined(ast.Or(), [_expression(each, constants) for each in conditions])
        case Not(condition):
            return ast.UnaryOp(ast.Not(), _expression(condition, constants))
        case Condition():
            return _condition(rule, constants)


def _joined(operator: ast.boolop, expressions: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(operator, expressions) if len(expressions) > 1 else expressions[0]


def _condition(condition: Condition, constants: _Constants) -> ast.expr:
    """No constant is None, so that a missing value is equal to none and in no set; for all else it is looked at
    first.
    """
    operator, side, rhs = condition.operator, _side(condition.lhs, constants), condition.rhs
    match operator:
        case Operator.EXISTS:
            return _is_there(side)
        case Operator.EQ:
            return _compare(side, (ast.Eq(), constants.node(rhs)))
        case Operator.IN:
            return _compare(side, (ast.In(), constants.node(rhs)))
    there = _is_there(ast.NamedExpr(ast.Name("value", ast.Store()), side))
    return ast.BoolOp(ast.And(), [there, _of_value(operator, rhs, constants)])


def _of_value(operator: Operator, rhs: Constant, constants: _Constants) -> ast.expr:
    value = _load("value")
    match operator:
        case Operator.STARTS_WITH:
            return _call(value, "startswith", constants.node(rhs))
        case Operator.CONTAINS:
            return _compare(constants.node(rhs), (ast.In(), value))
        case Operator.BETWEEN if isinstance(rhs, tuple):
            lowest, highest = rhs
            return _compare(constants.node(lowest), (ast.LtE(), value), (ast.LtE(), constants.node(highest)))
        case _:
            return _compare(value, (_COMPARISONS[operator](), constants.node(rhs)))


def _side(side: Side, constants: _Constants) -> ast.expr:
    match side.place:
        case FactPlace.VARIABLE:
            return _call(ast.Attribute(_load("facts"), "variables", ast.Load()), "get", ast.Constant(side.name))
        case FactPlace.FIELD:
            constants.fields.add(_public(side.name))
            return ast.Attribute(_load("facts"), side.name, ast.Load())
        case FactPlace.REGION:
            return _call(_load("facts"), "lies_in", ast.Constant(side.name))
        case Origin():
            return _call(_load("looked_up"), "get", ast.Constant(side.text))


def _public(field: str) -> str:
    """Raises `ValueError`."""
    if not field.isidentifier() or field.startswith("_"):
        raise ValueError(f"facts have no field {field!r}")
    return field


def _is_there(value: ast.expr) -> ast.expr:
    return _compare(value, (ast.IsNot(), ast.Constant(None)))


def _compare(left: ast.expr, *rest: tuple[ast.cmpop, ast.expr]) -> ast.expr:
    return ast.Compare(left, [operator for operator, _ in rest], [right for _, right in rest])


def _call(of: ast.expr, method: str, argument: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(of, method, ast.Load()), [argument], [])


def _load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _checked(tree: ast.Expression, fields: Collection[str]) -> ast.Expression:
    """The tree, with the place in a text that Python wants of each node. Raises `ValueError` for a tree that holds more
    than a rule needs.
    """
    attributes = _METHODS.union(fields)
    for node in ast.walk(tree):
        if not isinstance(node, _NODES) or (isinstance(node, ast.Attribute) and node.attr not in attributes):
            raise ValueError(f"a rule has no {ast.dump(node)}")
        vars(node).update(_PLACE)
    return tree
