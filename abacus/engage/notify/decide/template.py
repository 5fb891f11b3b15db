"""Templates of messages, rendered to a title and a text in the words of a locale. Pure."""

from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, Final, NamedTuple

from jinja2 import Template, TemplateError, TemplateSyntaxError, UndefinedError, meta

from abacus.core.errors import AbacusError
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.sandbox import LONGEST_TEXT, Sandbox

LOCALE_PATTERN: Final = r"^[a-z]{2,3}(-[A-Z]{2})?$"
DEFAULT_LOCALE: Final = "en"
LARGEST: Final = 16 * 1024  # characters of a template
LONGEST_TITLE: Final = 100

_GROUPED_BY_DOTS: Final = frozenset({"id", "vi"})

_MONTHS: Final = {
    "en": "January February March April May June July August September October November December",
    "id": "Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember",
}


def language_of(locale: str) -> str:
    return locale.partition("-")[0]


def number(value: int, locale: str) -> str:
    """A number such as 1,250, or 1.250 in a locale that sets thousands apart by dots."""
    text = f"{value:,}"
    return text.replace(",", ".") if language_of(locale) in _GROUPED_BY_DOTS else text


def day(value: date, locale: str) -> str:
    """A day such as 31 July 2026; in a language that we do not know 2026-07-31, which is understood everywhere."""
    language = language_of(locale)
    if language in _MONTHS:
        return f"{value.day} {_MONTHS[language].split(' ')[value.month - 1]} {value.year}"
    return f"{value.day}/{value.month}/{value.year}" if language == "vi" else value.isoformat()


# Used as functions, because they depend on the locale: {{ number(points) }}, {{ day(expires_on) }}.
SPELLED: Final[Mapping[str, Callable[[Any, str], str]]] = {"number": number, "day": day}

_SANDBOX: Final = Sandbox()


class FilledTemplate(NamedTuple):
    """A template, and the fields that it is rendered with."""

    template: str
    locale: str
    fields: Mapping[str, Any]


class Unrenderable(AbacusError):
    """The template has a fault, or fails on the given fields: it was checked before it was used, so one holds a rare
    value.
    """


class Unwritten(Unrenderable):
    """The template has a fault, whatever it is rendered with."""


def written(rendering: FilledTemplate, of: str = "") -> None:
    """Checks a template before anybody relies on it: its language and its fields, in each branch. `of` says whose
    fields. Raises `Unwritten`.
    """
    unknown = sorted(_compiled(rendering.template).names - rendering.fields.keys() - SPELLED.keys())
    if unknown:
        raise Unwritten(f"{unknown[0]!r} is no field{of}; there are {', '.join(sorted(rendering.fields))}")


def rendered(rendering: FilledTemplate) -> Words:
    """The first line is the title, the rest the text. Raises `Unrenderable`."""
    template, locale = _compiled(rendering.template).template, rendering.locale
    spelled = {name: lambda value, spell=spell: spell(value, locale) for name, spell in SPELLED.items()}
    try:
        text = _put_out(template, {**rendering.fields, **spelled})
    except UndefinedError as error:
        raise Unrenderable(f"{error.message} (an unknown field)") from None
    except Exception as error:  # noqa: BLE001  # a template may divide by zero, or anything else
        raise Unrenderable(f"it does not render: {_line(error)}") from None
    title, _, body = text.strip().partition("\n")
    if not title or not body.strip():
        raise Unrenderable("the first line is the title and the rest the text; one of them is missing")
    if len(title) > LONGEST_TITLE:
        raise Unrenderable(f"the title has more than {LONGEST_TITLE} characters")
    return Words(title.strip(), body.strip())


def nearest(locale: str, known: Mapping[str, Any]) -> str:
    """The locale itself, its language, or English, whichever is known first."""
    return next(each for each in (locale, language_of(locale), DEFAULT_LOCALE) if each in known)


class _Compiled(NamedTuple):
    """A template that can be rendered, and the names that it uses."""

    template: Template
    names: frozenset[str]


@lru_cache(maxsize=2_000)
def _compiled(source: str) -> _Compiled:
    """Raises `Unwritten`."""
    try:
        names = frozenset(meta.find_undeclared_variables(_SANDBOX.parse(source)))
        return _Compiled(_SANDBOX.from_string(source), names)
    except TemplateSyntaxError as error:
        raise Unwritten(f"line {error.lineno}: {error.message}") from None
    except RecursionError:
        raise Unwritten("too much stands inside each other") from None
    except (TemplateError, ValueError, SyntaxError, MemoryError) as error:
        raise Unwritten(_line(error)) from None


def _put_out(template: Template, fields: Mapping[str, Any]) -> str:
    """Ends as soon as there is too much."""
    pieces, length = [], 0
    for piece in template.generate(fields):
        pieces.append(piece)
        length += len(piece)
        if length > LONGEST_TEXT:
            raise ValueError(f"a message of more than {LONGEST_TEXT:,} characters")
    return "".join(pieces)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
