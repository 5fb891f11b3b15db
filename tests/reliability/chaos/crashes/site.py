"""The places where a worker can be killed: each side of each await, and of each way into and out of an `async with`.
Pure: source in, sites out, and the same source with a call at each of them.
"""

import ast
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

PASSED: Final = "__passed__"
CROSSED: Final = "__crossed__"
WALKED: Final = "__walked__"

_SHOWN: Final = 60


class Kind(StrEnum):
    """The kinds of sites."""

    AWAIT = "await"
    ENTER = "enter"  # an `async with`
    LEAVE = "leave"
    NEXT = "next"  # of an `async for`


class Side(StrEnum):
    """The two sides of a site."""

    BEFORE = "before"
    AFTER = "after"


class Site(NamedTuple):
    """A place that awaits something; `text` is its source."""

    module: str
    function: str
    line: int
    column: int
    kind: Kind
    text: str

    @property
    def name(self) -> str:
        return f"{self.module}:{self.function}:{self.line}.{self.column} {self.kind}"


class Point(NamedTuple):
    """A moment at which a worker can die."""

    site: Site
    side: Side

    @property
    def name(self) -> str:
        return f"{self.site.name} {self.side}"


def points_of(sites: list[Site]) -> Iterator[Point]:
    return (Point(site, side) for site in sites for side in Side)


def sites_in(module: str, source: str) -> list[Site]:
    return marked(module, source)[1]


def marked(module: str, source: str) -> tuple[ast.Module, list[Site]]:
    """The module with a call on each side of each site, under the names above, and the sites in it."""
    marking = _Marking(module)
    tree: ast.Module = marking.visit(ast.parse(source))
    return ast.fix_missing_locations(tree), sorted(marking.sites, key=lambda site: (site.line, site.column, site.kind))


class _Marking(ast.NodeTransformer):
    def __init__(self, module: str) -> None:
        self.sites: list[Site] = []
        self._module = module
        self._within: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._named(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._named(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._named(node)

    def visit_Await(self, node: ast.Await) -> ast.AST:
        site = self._site(node, Kind.AWAIT, node.value)
        before, after = (self._call(PASSED, ast.Constant(Point(site, side).name)) for side in Side)
        self.generic_visit(node)
        together = ast.Tuple([before, node, after], ast.Load())
        return ast.copy_location(ast.Subscript(together, ast.Constant(1), ast.Load()), node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.AST:
        for item in node.items:
            names = [self._site(item.context_expr, kind, item.context_expr).name for kind in (Kind.ENTER, Kind.LEAVE)]
            item.context_expr = self._call(CROSSED, *map(ast.Constant, names), item.context_expr)
        return self.generic_visit(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        self._walk(node)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        if node.is_async:
            self._walk(node)
        return self.generic_visit(node)

    def _walk(self, node: ast.AsyncFor | ast.comprehension) -> None:
        name = self._site(node.iter, Kind.NEXT, node.iter).name
        node.iter = self._call(WALKED, ast.Constant(name), node.iter)

    def _named(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._within.append(node.name)
        self.generic_visit(node)
        self._within.pop()
        return node

    def _site(self, place: ast.expr, kind: Kind, awaited: ast.expr) -> Site:
        text = ast.unparse(awaited)
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        site = Site(self._module, ".".join(self._within), place.lineno, place.col_offset, kind, shown)
        self.sites.append(site)
        return site

    def _call(self, name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
