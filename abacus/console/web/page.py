"""A page is a typed value and the name of its template; its JSON twin is the value."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Final, TypeAlias
from uuid import UUID

from abacus.console.web.forms import EMPTY, Form
from abacus.programs.expiry.decide.month import Month


@dataclass(frozen=True)
class Said:
    """What was done, in a sentence for the page after it, and a page that has more, with the words of its link. The
    tone is `waiting` where something is still to come.
    """

    text: str
    tone: str = "good"
    link: str | None = None
    link_text: str = ""


ASKED: Final = Said("You asked for it. It waits for another person.", "waiting")


@dataclass(frozen=True, kw_only=True)
class Page:
    """What every page has: its title, the command that shows or does the same, what was typed before, and what was just
    done. A page with a `fault`, or with a `form` that has faults, is answered as refused.
    """

    template: ClassVar[str]
    title: str
    command: str | None = None
    form: Form = EMPTY
    fault: str | None = None
    said: Said | None = None


@dataclass(frozen=True)
class See:
    """The browser goes on to this page of the console, which says what was done."""

    path: str
    said: Said | str | None = None


@dataclass(frozen=True)
class Download:
    """A file for the browser to keep."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class Events:
    """Names of events for a browser that listens, as they happen."""

    names: AsyncIterator[str]


Outcome: TypeAlias = Page | See | Download | Events


def plain(value: Any) -> Any:
    """The value as JSON has it."""
    match value:
        case Enum():
            return plain(value.value)
        case date() | Month() | UUID() | Decimal() | bytes():
            return _text(value)
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() | set() | frozenset():
            named = value._asdict() if isinstance(value, tuple) and hasattr(value, "_asdict") else None
            return [plain(each) for each in value] if named is None else plain(named)
        case _ if is_dataclass(value):
            return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        case _:
            return value


def _text(value: date | Month | UUID | Decimal | bytes) -> str:
    match value:
        case date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)
