"""Finding a node of a syntax tree by its source. Lines, layout, comments and neighbours do not matter.

A pattern is Python source in which `...` stands for any expression, and in a list of arguments, elements or statements
for any number of them.
"""

import ast
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeVar

_IGNORED: Final = frozenset({"type_comment", "kind"})
Item = TypeVar("Item")


class Lost(Exception):
    """The node that a mutant changes is not there exactly once."""


class Slot(NamedTuple):
    """A place in a syntax tree that holds a node: an attribute of its parent, or an item of a list there."""

    parent: ast.AST
    field: str
    place: int | None
    node: ast.AST

    @property
    def siblings(self) -> list[ast.AST]:
        siblings: list[ast.AST] = getattr(self.parent, self.field)
        return siblings

    def put(self, nodes: Sequence[ast.AST]) -> None:
        if self.place is None:
            (node,) = nodes
            setattr(self.parent, self.field, node)
        else:
            self.siblings[self.place : self.place + 1] = nodes


def definition(tree: ast.Module, name: str) -> ast.stmt:
    """The function, class or constant with this qualified name. Raises `Lost`."""
    scope: ast.Module | ast.stmt = tree
    for part in name.split("."):
        scope = only([each for each in getattr(scope, "body", ()) if part in _names(each)], f"a definition of {part}")
    assert isinstance(scope, ast.stmt)
    return scope


def only(items: Sequence[Item], what: str) -> Item:
    """Raises `Lost`."""
    if len(items) != 1:
        raise Lost(f"{what} stands there {len(items)} times")
    return items[0]


def slots(scope: ast.AST) -> Iterator[Slot]:
    """Every place below the scope that holds a node."""
    for parent in ast.walk(scope):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, ast.AST):
                yield Slot(parent, field, None, value)
            elif isinstance(value, list):
                yield from (Slot(parent, field, place, node) for place, node in enumerate(value))


def matches(pattern: object, node: object) -> bool:
    """Whether the node says what the pattern says."""
    if _is_wildcard(pattern):
        return isinstance(node, ast.expr)
    if isinstance(pattern, list):
        return isinstance(node, list) and _all_match(pattern, node)
    if not isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and pattern == node
    return type(pattern) is type(node) and all(
        matches(value, getattr(node, field, None)) or (field == "keywords" and _takes_any(pattern))
        for field, value in ast.iter_fields(pattern)
        if field not in _IGNORED
    )


def _all_match(patterns: Sequence[object], nodes: Sequence[object]) -> bool:
    if not patterns:
        return not nodes
    first, rest = patterns[0], patterns[1:]
    if _is_wildcard(first.value if isinstance(first, ast.Expr) else first):
        return any(_all_match(rest, nodes[taken:]) for taken in range(len(nodes) + 1))
    return bool(nodes) and matches(first, nodes[0]) and _all_match(rest, nodes[1:])


def _takes_any(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and any(map(_is_wildcard, call.args))


def _is_wildcard(pattern: object) -> bool:
    return isinstance(pattern, ast.Constant) and pattern.value is ...


def _names(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case _:
            return []
