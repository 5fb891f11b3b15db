"""Templates: one file for each kind and locale, `EVENT.LOCALE.txt`. Its first line is the title, the rest the text.

The files of the package are the default; an operator's folder replaces them by name and adds locales. Every template is
checked when it is loaded, so that a bad template fails at the start and not when a member is to be told something.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from jinja2 import Template, TemplateError, TemplateSyntaxError, meta

from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.news import SAMPLES, WITH_TEMPLATES, Campaigned, Kind, News, fields_of
from abacus.engage.notify.decide.rendering import (
    ENVIRONMENT,
    LARGEST,
    SPELLED,
    Unrenderable,
    compiled,
    nearest,
    rendered,
)

SHIPPED: Final = Path(__file__).parent / "templates"

_SUFFIX: Final = ".txt"
_NAME: Final = re.compile(r"(?P<kind>[a-z_]+)\.(?P<locale>[a-z]{2,3}(?:-[A-Z]{2})?)\.txt")


class Templates:
    """All templates of a process."""

    def __init__(self, templates: Mapping[tuple[Kind, str], Template]) -> None:
        self._templates = templates

    def render(self, news: News, locale: str) -> Words:
        """Render news in the locale, in its language, or in English. Raises `Unrenderable`."""
        if isinstance(news, Campaigned):
            return Words(*news.words[nearest(locale, news.words)].model_dump().values())
        known = {each: template for (kind, each), template in self._templates.items() if kind is news.kind}
        which = nearest(locale, known)
        return _rendered(known[which], news, which)

    def locales(self) -> list[str]:
        return sorted({locale for _, locale in self._templates})


def load_templates(folder: Path | None) -> Templates:
    """Load the shipped templates, and over them those of the folder. Raises `Refused`, naming the bad template."""
    paths = {path.name: path for path in _templates_in(SHIPPED)}
    if folder is not None:
        try:
            paths |= {path.name: path for path in _templates_in(folder)}
        except OSError as error:
            raise Refused(f"{folder}: {error.strerror or error}") from None
    return Templates({_about(path): _checked(path) for _, path in sorted(paths.items())})


def words_of(templates: Templates, news: Sequence[News], locale: str) -> Words:
    """The title of the most important news, and the texts of all. Raises `Unrenderable`."""
    rendered = [templates.render(each, locale) for each in news]
    return Words(rendered[0].title, "\n".join(each.text for each in rendered))


def _templates_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == _SUFFIX]


def _about(path: Path) -> tuple[Kind, str]:
    match = _NAME.fullmatch(path.name)
    if match is None or match["kind"] not in WITH_TEMPLATES:
        raise Refused(f"{path}: a template is named EVENT.LOCALE.txt, EVENT being one of {', '.join(WITH_TEMPLATES)}")
    return Kind(match["kind"]), match["locale"]


def _checked(path: Path) -> Template:
    """The template, rendered with each sample of its kind before anybody relies on it. Raises `Refused`."""
    kind, locale = _about(path)
    try:
        source = _source(path)
        tree = ENVIRONMENT.parse(source)
        unknown = sorted(meta.find_undeclared_variables(tree) - fields_of(kind) - SPELLED.keys())
        if unknown:
            known = ", ".join(sorted(fields_of(kind)))
            raise Refused(f"{path}: {unknown[0]!r} is no field of {kind}; there are {known}")
        template = compiled(source)
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
    if len(source) > LARGEST:
        raise Refused(f"{path}: more than {LARGEST:,} characters")
    return source


def _rendered(template: Template, news: News, locale: str) -> Words:
    fields = {name: getattr(news, name) for name in type(news).model_fields if name != "kind"}
    return rendered(template, fields, locale)
