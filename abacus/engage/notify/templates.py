"""Templates: one file for each kind and locale, `EVENT.LOCALE.txt`. Its first line is the title, the rest the text.

The files of the package are the default; an operator's folder replaces them by name and adds locales. Every template is
checked when it is loaded, so that a bad template fails at the start and not when a member is to be told something.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from jinja2 import StrictUndefined, Template, TemplateError, TemplateSyntaxError, UndefinedError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from abacus.core.errors import AbacusError, Refused
from abacus.engage.notify.decide import words
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.news import SAMPLES, Kind, News, fields_of

DEFAULT_LOCALE: Final = "en"
LOCALE_PATTERN: Final = r"^[a-z]{2,3}(-[A-Z]{2})?$"
SHIPPED: Final = Path(__file__).parent / "templates"

_SUFFIX: Final = ".txt"
_NAME: Final = re.compile(r"(?P<kind>[a-z_]+)\.(?P<locale>[a-z]{2,3}(?:-[A-Z]{2})?)\.txt")
_LARGEST: Final = 16 * 1024
_LONGEST_TITLE: Final = 100


class Unrenderable(AbacusError):
    """The template fails on the given news. It was checked when it was loaded, so the news holds a rare value."""


class Templates:
    """All templates of a process."""

    def __init__(self, templates: Mapping[tuple[Kind, str], Template]) -> None:
        self._templates = templates

    def render(self, news: News, locale: str) -> Words:
        """Render news in the locale, in its language, or in English. Raises `Unrenderable`."""
        nearest = self._nearest(news.kind, locale)
        return _rendered(self._templates[news.kind, nearest], news, nearest)

    def locales(self) -> list[str]:
        return sorted({locale for _, locale in self._templates})

    def _nearest(self, kind: Kind, locale: str) -> str:
        candidates = (locale, words.language_of(locale), DEFAULT_LOCALE)
        return next(each for each in candidates if (kind, each) in self._templates)


def load_templates(folder: Path | None) -> Templates:
    """Load the shipped templates, and over them those of the folder. Raises `Refused`, naming the bad template."""
    paths = {path.name: path for path in _templates_in(SHIPPED)}
    if folder is not None:
        try:
            paths |= {path.name: path for path in _templates_in(folder)}
        except OSError as error:
            raise Refused(f"{folder}: {error.strerror or error}") from None
    environment = _environment()
    return Templates({_about(path): _checked(environment, path) for _, path in sorted(paths.items())})


def words_of(templates: Templates, news: Sequence[News], locale: str) -> Words:
    """The title of the most important news, and the texts of all. Raises `Unrenderable`."""
    rendered = [templates.render(each, locale) for each in news]
    return Words(rendered[0].title, "\n".join(each.text for each in rendered))


def _templates_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == _SUFFIX]


def _environment() -> ImmutableSandboxedEnvironment:
    # Plain text: a message is not HTML, and a channel that makes HTML of it has to escape it anyway.
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, trim_blocks=True)


def _about(path: Path) -> tuple[Kind, str]:
    match = _NAME.fullmatch(path.name)
    if match is None or match["kind"] not in set(Kind):
        raise Refused(f"{path}: a template is named EVENT.LOCALE.txt, EVENT being one of {', '.join(Kind)}")
    return Kind(match["kind"]), match["locale"]


def _checked(environment: ImmutableSandboxedEnvironment, path: Path) -> Template:
    """The template, rendered with each sample of its kind before anybody relies on it. Raises `Refused`."""
    kind, locale = _about(path)
    try:
        source = _source(path)
        tree = environment.parse(source)
        unknown = sorted(meta.find_undeclared_variables(tree) - fields_of(kind) - set(_SPELLED))
        if unknown:
            known = ", ".join(sorted(fields_of(kind)))
            raise Refused(f"{path}: {unknown[0]!r} is no field of {kind}; there are {known}")
        template = environment.from_string(source)
        for sample in SAMPLES[kind]:
            _rendered(template, sample, locale)
    except TemplateSyntaxError as error:
        raise Refused(f"{path}: line {error.lineno}: {error.message}") from None
    except (TemplateError, Unrenderable) as error:
        raise Refused(f"{path}: {error}") from None
    return template


def _source(path: Path) -> str:
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise Refused(f"{path}: not UTF-8") from None
    if len(source) > _LARGEST:
        raise Refused(f"{path}: more than {_LARGEST:,} characters")
    return source


def _rendered(template: Template, news: News, locale: str) -> Words:
    fields: dict[str, Any] = {name: getattr(news, name) for name in type(news).model_fields if name != "kind"}
    for name, spell in _SPELLED.items():
        fields[name] = lambda value, spell=spell: spell(value, locale)
    try:
        rendered = template.render(fields)
    except UndefinedError as error:
        raise Unrenderable(f"{error.message} (an unknown field)") from None
    except Exception as error:  # noqa: BLE001  # a template may divide by zero, or anything else
        raise Unrenderable(f"it does not render: {' '.join(str(error).split()) or type(error).__name__}") from None
    title, _, text = rendered.strip().partition("\n")
    if not title or not text.strip():
        raise Unrenderable("the first line is the title and the rest the text; one of them is missing")
    if len(title) > _LONGEST_TITLE:
        raise Unrenderable(f"the title has more than {_LONGEST_TITLE} characters")
    return Words(title.strip(), text.strip())


# Used as functions, because they depend on the locale: {{ number(points) }}, {{ day(expires_on) }}.
_SPELLED: Final = {"number": words.number, "day": words.day}
