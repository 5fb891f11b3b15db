"""The language of messages: Jinja2 without what could take much time or memory. Pure.

What a template may write is listed here, and the rest is refused. Values, loops and the whole output have a bound each.
That leaves what many bounded things take together: a template of others than this house's is rendered in a process of
its own (`abacus/engage/notify/renderer.py`), which is killed when it takes too long.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from datetime import date, timedelta
from decimal import Decimal
from functools import wraps
from itertools import islice
from typing import Any, Final

from jinja2 import StrictUndefined, TemplateAssertionError, TemplateRuntimeError, nodes, pass_context
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer
from pydantic import BaseModel

LONGEST_TEXT: Final = 16 * 1024  # characters of a value, and of a whole message
MOST_TURNS: Final = 1_000  # of a loop, and entries of a list
DEEPEST_LOOPS: Final = 2  # inside each other
_LARGEST: Final = 10**30
_FINEST: Final = 12  # decimals to round to

_ALLOWED: Final = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.CondExpr),
    *(nodes.Name, nodes.Const, nodes.List, nodes.Tuple, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Keyword),
    *(nodes.Filter, nodes.Test, nodes.Call, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not),
    *(nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Concat),
)
_FILTERS: Final = (
    *("abs", "capitalize", "count", "d", "default", "first", "float", "int", "join", "last", "length", "list"),
    *("lower", "max", "min", "replace", "reverse", "round", "sort", "string", "sum", "title", "trim", "truncate"),
    *("unique", "upper", "wordcount"),
)
_METHODS: Final[Mapping[type, frozenset[str]]] = {
    str: frozenset(
        ("capitalize", "endswith", "lower", "lstrip", "rstrip", "split", "startswith", "strip", "title", "upper")
    ),
    Mapping: frozenset(("get", "items", "keys", "values")),
}
_TEXT: Final = "text of parts"  # names that no template can write
_LIST: Final = "list of parts"
_TURNS: Final = "turns of a loop"


class TooMuch(TemplateRuntimeError):
    """The template asks for more than a message needs."""


class Sandbox(ImmutableSandboxedEnvironment):
    """Plain text: a message is not HTML, and a channel that makes HTML of it has to escape it anyway."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self) -> None:
        # Not optimised: that would work out constants while a template is compiled, without any bound.
        super().__init__(
            undefined=StrictUndefined, autoescape=False, trim_blocks=True, optimized=False, finalize=_finalized
        )
        self.globals.clear()
        self.filters = {name: _bounded(name, self.filters[name]) for name in _FILTERS}
        self.filters |= {_TEXT: _text, _LIST: _list, _TURNS: _turns}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for node in tree.find_all(nodes.Node):
            if not isinstance(node, _ALLOWED) or (isinstance(node, nodes.For) and node.recursive):
                raise TemplateAssertionError(f"{_word(node)} is not for messages", node.lineno)
        _check_loops(tree, 0)
        return _BoundedNodes().visit(tree)  # type: ignore[no-any-return]  # a transformer answers with any node

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Numbers with numbers, texts put together, and days with days."""
        if not (
            (isinstance(left, int | float | Decimal) and isinstance(right, int | float | Decimal))
            or (operator == "+" and isinstance(left, str) and isinstance(right, str))
            or (operator in "+-" and isinstance(left, date | timedelta) and isinstance(right, date | timedelta))
        ):
            _check_there(left, right)
            raise TooMuch(f"{operator} between {type(left).__name__} and {type(right).__name__} is not for messages")
        return _checked(super().call_binop(context, operator, left, right))

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        return _checked(super().call(context, obj, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> None:
        """No method that formats: a width in it has no bound."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Fields of what the message is about, and few methods."""
        if not super().is_safe_attribute(obj, attr, value):
            return False
        for type_, methods in _METHODS.items():
            if isinstance(obj, type_):
                return attr in methods
        if isinstance(obj, BaseModel):
            return attr in type(obj).model_fields
        return isinstance(obj, date | timedelta | LoopContext)


class _BoundedNodes(NodeTransformer):
    """Has the values checked that no operator or filter makes."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802  # Jinja2 looks for this name
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), _TEXT)

    def visit_List(self, node: nodes.List) -> nodes.Node:  # noqa: N802  # Jinja2 looks for this name
        self.generic_visit(node)
        return _filtered(node, _LIST)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:  # noqa: N802  # Jinja2 looks for this name
        self.generic_visit(node)
        return _filtered(node, _LIST) if node.ctx == "load" else node

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802  # Jinja2 looks for this name
        self.generic_visit(node)
        node.iter = _filtered(node.iter, _TURNS)
        return node


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _check_loops(node: nodes.Node, depth: int) -> None:
    for child in node.iter_child_nodes():
        is_loop = isinstance(child, nodes.For)
        if is_loop and depth == DEEPEST_LOOPS:
            raise TemplateAssertionError(f"more than {DEEPEST_LOOPS} loops inside each other", child.lineno)
        _check_loops(child, depth + is_loop)


def _word(node: nodes.Node) -> str:
    return "**" if isinstance(node, nodes.Pow) else type(node).__name__.lower()


def _checked(value: Any) -> Any:
    """The value, if it is not too large."""
    if isinstance(value, Iterator):
        value = list(islice(value, MOST_TURNS + 1))
    if isinstance(value, str):
        if len(value) > LONGEST_TEXT:
            raise TooMuch(f"a text of more than {LONGEST_TEXT:,} characters")
    elif isinstance(value, Sized) and len(value) > MOST_TURNS:
        raise TooMuch(f"a list of more than {MOST_TURNS:,} entries")
    elif isinstance(value, int) and abs(value) > _LARGEST:
        raise TooMuch(f"a number of more than {len(str(_LARGEST)) - 1} digits")
    return value


def _check_there(*values: Any) -> None:
    """Raises `UndefinedError`."""
    for value in values:
        if isinstance(value, StrictUndefined):
            str(value)


def _bounded(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    """The filter, on values that were checked; with `wraps` it is still told what else it is passed."""
    of = 1 if hasattr(apply, "jinja_pass_arg") else 0

    @wraps(apply)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _CHECKS.get(name, lambda *_, **__: None)(*args[of:], **kwargs)
        return _checked(apply(*args, **kwargs))

    return checked


def _check_replaced(value: Any, old: Any, new: Any, count: Any = None) -> None:
    if count is None and len(str(value)) + str(value).count(str(old)) * len(str(new)) > LONGEST_TEXT:
        raise TooMuch(f"a text of more than {LONGEST_TEXT:,} characters")


def _check_rounded(_: Any, precision: Any = 0, *__: Any, **___: Any) -> None:
    if not isinstance(precision, int) or abs(precision) > _FINEST:
        raise TooMuch(f"round to at most {_FINEST} decimals")


_CHECKS: Final[Mapping[str, Callable[..., None]]] = {"replace": _check_replaced, "round": _check_rounded}


@pass_context
def _finalized(_: Context, value: Any) -> str:
    """What is put out. With the context it is not worked out while a template is compiled."""
    return str(_checked(str(value)))


def _text(parts: Sequence[Any]) -> Any:
    return _checked("".join(str(_checked(str(each))) for each in parts))


def _list(parts: Sequence[Any]) -> Any:
    for each in parts:
        if isinstance(each, list | tuple | dict):
            raise TooMuch("a list of lists")
    return parts


def _turns(values: Any) -> Any:
    _check_there(values)
    if isinstance(values, str) and len(values) > MOST_TURNS:
        raise TooMuch(f"a text of more than {MOST_TURNS:,} characters for a loop")
    return _checked(values)
