"""Templates of messages: their text compiled in a sandbox and rendered to a title and a text. Pure."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from jinja2 import StrictUndefined, Template, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from abacus.core.errors import AbacusError
from abacus.engage.notify.decide import words
from abacus.engage.notify.decide.message import Words

LOCALE_PATTERN: Final = r"^[a-z]{2,3}(-[A-Z]{2})?$"
DEFAULT_LOCALE: Final = "en"
LARGEST: Final = 16 * 1024  # characters of a template
LONGEST_TITLE: Final = 100

# Used as functions, because they depend on the locale: {{ number(points) }}, {{ day(expires_on) }}.
SPELLED: Final[Mapping[str, Callable[[Any, str], str]]] = {"number": words.number, "day": words.day}

# Plain text: a message is not HTML, and a channel that makes HTML of it has to escape it anyway.
ENVIRONMENT: Final = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, trim_blocks=True)


class Unrenderable(AbacusError):
    """The template fails on the given fields. It was checked before it was used, so one holds a rare value."""


@lru_cache(maxsize=2_000)
def compiled(source: str) -> Template:
    """The template of a text. Raises `jinja2.TemplateError`."""
    return ENVIRONMENT.from_string(source)


def rendered(template: Template, fields: Mapping[str, Any], locale: str) -> Words:
    """The first line is the title, the rest the text. Raises `Unrenderable`."""
    spelled = {name: lambda value, spell=spell: spell(value, locale) for name, spell in SPELLED.items()}
    try:
        text = template.render({**fields, **spelled})
    except UndefinedError as error:
        raise Unrenderable(f"{error.message} (an unknown field)") from None
    except Exception as error:  # noqa: BLE001  # a template may divide by zero, or anything else
        raise Unrenderable(f"it does not render: {' '.join(str(error).split()) or type(error).__name__}") from None
    title, _, body = text.strip().partition("\n")
    if not title or not body.strip():
        raise Unrenderable("the first line is the title and the rest the text; one of them is missing")
    if len(title) > LONGEST_TITLE:
        raise Unrenderable(f"the title has more than {LONGEST_TITLE} characters")
    return Words(title.strip(), body.strip())


def nearest(locale: str, known: Mapping[str, Any]) -> str:
    """The locale itself, its language, or English, whichever is known first."""
    return next(each for each in (locale, words.language_of(locale), DEFAULT_LOCALE) if each in known)
