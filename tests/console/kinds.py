"""The kinds of elements of pages. Two elements look alike, and mean the same to a reader of screens, where they and all
elements that they are in have the same tags, classes and states.
"""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from tests.console.markup import Element, markup

Kind: TypeAlias = tuple[str, ...]

_TELLING: Final = ("type", "role", "hidden", "open", "disabled", "aria-current", "aria-disabled")


def kinds(html: str) -> frozenset[Kind]:
    return frozenset(_kind(each) for each in markup(html).within())


def fewest(kinds_of_pages: Mapping[str, frozenset[Kind]]) -> Iterator[str]:
    """Pages that have all kinds together: each, from the fullest on, that has one which no page before has."""
    seen = set[Kind]()
    for page in sorted(kinds_of_pages, key=lambda page: len(kinds_of_pages[page]), reverse=True):
        if not seen.issuperset(kinds_of_pages[page]):
            seen |= kinds_of_pages[page]
            yield page


def _kind(element: Element) -> Kind:
    texts = ("with text",) if any(isinstance(each, str) for each in element.holds) else ()
    return *(_look(each) for each in (element, *element.around())), *texts


def _look(element: Element) -> str:
    classes = "".join(f".{each}" for each in sorted(element.attributes.get("class", "").split()))
    states = "".join(f"[{name}={element.attributes[name]}]" for name in _TELLING if name in element.attributes)
    return f"{element.tag}{classes}{states}"
