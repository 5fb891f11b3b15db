"""The documents that speak of the tree, and the places in it that they name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.paths import DOCS, ROOT

# A path begins with a room; one in quotation marks is no path, as the `source` of an event.
_PATH: Final = re.compile(
    r"(?<![\w./\"-])((?:abacus|alembic|benchmarks|client|localstack|tests|workers)/[\w./*-]*)(?::([A-Za-z_][\w.]*))?"
)
_TEMPLATE: Final = "NNNN"  # stands for the number of a file that is yet to be written
_ANCHOR: Final = re.compile(r"\]\(([^)#\s:]*)#([^)\s]+)\)")
_FENCED: Final = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK: Final = re.compile(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)")


class Place(NamedTuple):
    """A path in the tree as a document names it, with the definition in that file, if it names one."""

    path: str
    name: str | None


def documents() -> list[Path]:
    named = ("README.md", "CONTRIBUTING.md", "tests/reliability/README.md")
    return [*(ROOT / name for name in named), *sorted(DOCS.rglob("*.md"))]


def places(document: Path) -> Iterator[Place]:
    for match in _PATH.finditer(document.read_text(encoding="utf-8")):
        path = match[1].rstrip(".-")
        if _TEMPLATE not in path:
            yield Place(path, match[2] and match[2].rstrip("."))


def links(document: Path) -> Iterator[str]:
    """The document's links into the tree, as it writes them."""
    yield from (match[1] for match in _LINK.finditer(document.read_text(encoding="utf-8")))


def anchors(document: Path) -> Iterator[tuple[Path, str]]:
    """The headings that the document links to: the page of each, and the heading as a link writes it."""
    for match in _ANCHOR.finditer(document.read_text(encoding="utf-8")):
        yield (document.parent / match[1] if match[1] else document), match[2]


def headings(page: Path) -> set[str]:
    """The headings of a page, as a link writes them: small letters, digits and hyphens."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in _HEADING.findall(text)}


def exists(path: str) -> bool:
    """Whether a file or folder has that path, in which `*` stands for anything."""
    return any(ROOT.glob(path)) if "*" in path else (ROOT / path).exists()


def defines(path: str, name: str) -> bool:
    """Whether the Python file defines a class, function or constant of that name, or a method: `Class.method`."""
    body = ast.parse((ROOT / path).read_text(encoding="utf-8")).body
    *owners, last = name.split(".")
    for owner in owners:
        body = next((each.body for each in body if isinstance(each, ast.ClassDef) and each.name == owner), [])
    return any(last in _names(each) for each in body)


def _names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
            yield node.name
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Assign():
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        case _:
            pass
