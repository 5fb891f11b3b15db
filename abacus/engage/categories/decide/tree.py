"""The categories of a country: a tree of three levels, in which each name stands once. Pure."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from abacus.core import fields
from abacus.core.fields import COUNTRY_PATTERN, Bad, DocumentFaults, Fault, Fields, quoted, shown, string
from abacus.documents.decide.texts import faults_of_text
from abacus.documents.decide.version_words import Labels

LABELS: Final = Labels("tree of categories", COUNTRY_PATTERN, "SG")
CATEGORY_PATTERN: Final = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
MOST_CATEGORIES: Final = 10_000
_CATEGORY: Final = re.compile(CATEGORY_PATTERN)

read_category: Final = fields.matching(
    _CATEGORY, "is not a category; write at most 64 letters, digits, dots, dashes and underscores (food.pizza)"
)

Tree: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]


@dataclass(frozen=True)
class Categories:
    """The categories of a country: under each of the widest the next, and under each of those the narrowest."""

    country: str
    tree: Tree
    version: int = 0

    def __hash__(self) -> int:  # the generated one would hash the mapping, which has no hash
        return hash((self.country, self.version))

    @cached_property
    def above(self) -> Mapping[str, tuple[str, ...]]:
        """Each category, with those above it from the widest on."""
        found: dict[str, tuple[str, ...]] = {}
        for path in _paths(self.tree):
            found.setdefault(path[-1], path[:-1])
        return found

    def check(self, name: str) -> None:
        """Raises `Bad` for a category that is not among them."""
        if name not in self.above:
            near = difflib.get_close_matches(name, list(self.above), n=1)
            hint = f"did you mean {near[0]}?" if near else f"`abacus categories show {self.country}` prints all"
            raise Bad(f"{self.country} has no category {quoted(name)}; {hint}")

    def numbered(self, version: int) -> "Categories":
        return replace(self, version=version)


def parse_categories(document: Mapping[str, object]) -> Categories:
    """Raises `DocumentFaults` with every fault of a document."""
    faults = faults_of_text(document)
    top = Fields(document, "", faults)
    country = top.read("country", fields.country, "")
    tree = _tree(top.table("categories"))
    top.refuse_unknown()
    faults += _repeated(tree)
    if faults:
        raise DocumentFaults(faults)
    return Categories(country, tree)


def to_document(categories: Categories) -> dict[str, object]:
    """As `parse_categories` reads it."""
    tree = {name: {each: list(inner) for each, inner in under.items()} for name, under in categories.tree.items()}
    return {"country": categories.country, "categories": tree}


def described(categories: Categories) -> Iterator[tuple[str, str]]:
    """Each category of the upper levels with its path, in words."""
    for name, under in categories.tree.items():
        yield f"categories.{name}", ", ".join(under) or "nothing below"
        for each, inner in under.items():
            yield f"categories.{name}.{each}", ", ".join(inner) or "nothing below"


def _tree(table: Fields) -> Tree:
    tree: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for name, inner in table.tables(read_category, at_most=MOST_CATEGORIES).items():
        names = inner.names(read_category, at_most=MOST_CATEGORIES)
        tree[name] = {each: inner.read(each, _narrowest, ()) for each in names}
    return tree


def _narrowest(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise Bad(f'{shown(value)}; write an array of the categories below, such as ["pizza", "pasta"], or []')
    return tuple(read_category(string(each)) for each in value)


def _paths(tree: Tree) -> Iterator[tuple[str, ...]]:
    for name, under in tree.items():
        yield (name,)
        for each, inner in under.items():
            yield name, each
            yield from ((name, each, one) for one in inner)


def _repeated(tree: Tree) -> list[Fault]:
    first: dict[str, str] = {}
    faults: list[Fault] = []
    paths = list(_paths(tree))
    if len(paths) > MOST_CATEGORIES:
        faults.append(Fault("categories", f"{len(paths):,} categories; write at most {MOST_CATEGORIES:,}"))
    for path in paths:
        place = ".".join(["categories", *path])
        if path[-1] in first:
            faults.append(Fault(place, f"{quoted(path[-1])} stands at {first[path[-1]]} already"))
        first.setdefault(path[-1], place)
    return faults
