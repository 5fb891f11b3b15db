"""What is wrong with the markup of a page, whatever it looks like; axe has the same rules, and needs a browser."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from tests.console.markup import Element, markup

_Rule: TypeAlias = Callable[[Sequence[Element]], Iterator[str]]

_REFERENCES: Final = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "list", "form")
_NAMED_BY_TEXT: Final = frozenset({"a", "button", "summary"})
_FIELDS: Final = frozenset({"input", "select", "textarea"})
_UNNAMED_FIELDS: Final = frozenset({"hidden", "submit", "button", "reset"})
_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_LISTED: Final = {"li": {"ul", "ol"}, "dt": {"dl", "div"}, "dd": {"dl", "div"}}


def broken_rules(html: str) -> list[str]:
    """What is wrong, by the rule and the element."""
    elements = list(markup(html).within())
    return [f"{rule.__name__.strip('_')}: {each}" for rule in _RULES for each in rule(elements)]


def _a_reference_leads_somewhere(elements: Sequence[Element]) -> Iterator[str]:
    ids = {each.attributes.get("id") for each in elements}
    for each in elements:
        named = " ".join(each.attributes.get(name, "") for name in _REFERENCES).split()
        if not ids.issuperset(named):
            yield str(each)


def _a_link_or_a_button_has_a_name(elements: Sequence[Element]) -> Iterator[str]:
    for each in elements:
        if each.tag in _NAMED_BY_TEXT and each.attributes.get("aria-hidden") != "true" and not _name(each):
            yield str(each)


def _a_field_has_a_label(elements: Sequence[Element]) -> Iterator[str]:
    labelled = {each.attributes.get("for") for each in elements if each.tag == "label" and _text(each)}
    for each in elements:
        if each.tag not in _FIELDS or each.attributes.get("type") in _UNNAMED_FIELDS:
            continue
        in_label = any(outer.tag == "label" and _text(outer) for outer in each.around())
        if not (in_label or _name(each) or each.attributes.get("id") in labelled):
            yield str(each)


def _a_picture_says_what_it_shows(elements: Sequence[Element]) -> Iterator[str]:
    yield from (str(each) for each in elements if each.tag == "img" and "alt" not in each.attributes)


def _the_page_says_what_it_is(elements: Sequence[Element]) -> Iterator[str]:
    for tag in ("html", "title", "main", "h1"):
        found = [
            each for each in elements if each.tag == tag and not any(outer.tag == "svg" for outer in each.around())
        ]
        if len(found) != 1:
            yield f"{len(found)} of {tag}"
        elif tag == "html" and not found[0].attributes.get("lang"):
            yield "no lang"
        elif tag in {"title", "h1"} and not _text(found[0]):
            yield f"empty {tag}"


def _headings_go_down_by_one(elements: Sequence[Element]) -> Iterator[str]:
    before = 0
    for each in elements:
        if (level := _HEADINGS.get(each.tag)) is not None:
            if level > before + 1 or not _text(each):
                yield f"{each} {each.text}"
            before = level


def _an_entry_is_in_a_list(elements: Sequence[Element]) -> Iterator[str]:
    for each in elements:
        lists = _LISTED.get(each.tag)
        if lists is not None and (each.parent is None or each.parent.tag not in lists):
            yield f"{each} in {each.parent}"


def _a_column_has_a_heading(elements: Sequence[Element]) -> Iterator[str]:
    for each in elements:
        if each.tag == "table" and not any(cell.tag == "th" and _text(cell) for cell in each.within()):
            yield str(each)


def _text(element: Element) -> str:
    """What is read aloud of it: its texts, the names of its pictures."""
    if element.attributes.get("aria-hidden") == "true":
        return ""
    named = element.attributes.get("aria-label", "") or element.attributes.get("alt", "")
    return named or " ".join(each if isinstance(each, str) else _text(each) for each in element.holds).strip()


def _name(element: Element) -> str:
    named = (element.attributes.get(name, "").strip() for name in ("aria-label", "aria-labelledby", "title"))
    return next(filter(None, named), "") or _text(element)


_RULES: Final[Sequence[_Rule]] = (
    _a_reference_leads_somewhere,
    _a_link_or_a_button_has_a_name,
    _a_field_has_a_label,
    _a_picture_says_what_it_shows,
    _the_page_says_what_it_is,
    _headings_go_down_by_one,
    _an_entry_is_in_a_list,
    _a_column_has_a_heading,
)
