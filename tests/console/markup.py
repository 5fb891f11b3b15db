"""A page as the elements of its HTML."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

_VOID: Final = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)


class Unclosed(Exception):
    """An element is left open, or another one is closed."""


@dataclass(eq=False)
class Element:
    """An element, with what it holds: elements and texts, in their order."""

    tag: str
    attributes: dict[str, str]
    parent: "Element | None" = None
    holds: "list[Element | str]" = field(default_factory=list)

    def within(self) -> "Iterator[Element]":
        """The element itself, and every element in it."""
        yield self
        for each in self.holds:
            if isinstance(each, Element):
                yield from each.within()

    def around(self) -> "Iterator[Element]":
        """The elements that it is in, from the inmost one."""
        if self.parent is not None:
            yield self.parent
            yield from self.parent.around()

    @property
    def text(self) -> str:
        """All text in it."""
        return " ".join(each if isinstance(each, str) else each.text for each in self.holds).strip()

    def __str__(self) -> str:
        given = "".join(f' {name}="{value}"' for name, value in self.attributes.items())
        return f"<{self.tag}{given}>"


def markup(html: str) -> Element:
    """The root of the page. Raises `Unclosed`."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.read()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._root = self._open = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = self._add(tag, attrs)
        if tag not in _VOID:
            self._open = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._open.tag != tag or self._open.parent is None:
            raise Unclosed(f"</{tag}> in {self._open}")
        self._open = self._open.parent

    def handle_data(self, data: str) -> None:
        if data.strip():
            self._open.holds.append(data)

    def read(self) -> Element:
        if self._open is not self._root:
            raise Unclosed(f"{self._open} to the end")
        return self._root

    def _add(self, tag: str, attrs: list[tuple[str, str | None]]) -> Element:
        element = Element(tag, {name: value or "" for name, value in attrs}, self._open)
        self._open.holds.append(element)
        return element
