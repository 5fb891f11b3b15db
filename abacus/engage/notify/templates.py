"""Templates: one file for each kind and locale, `EVENT.LOCALE.txt`. Its first line is the title, the rest the text.

The files of the package are the default; an operator's folder replaces them by name and adds locales. Every template is
checked when it is loaded, so that a bad template fails at the start and not when a member is to be told something.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from abacus.core.errors import Refused
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.news import SAMPLES, WITH_TEMPLATES, Campaigned, News, NewsKind, fields_of
from abacus.engage.notify.decide.template import LARGEST, FilledTemplate, Unrenderable, nearest, rendered, written

SHIPPED: Final = Path(__file__).parent / "templates"

_SUFFIX: Final = ".txt"
_NAME: Final = re.compile(r"(?P<kind>[a-z_]+)\.(?P<locale>[a-z]{2,3}(?:-[A-Z]{2})?)\.txt")


class Templates:
    """All templates of a process."""

    def __init__(self, templates: Mapping[tuple[NewsKind, str], str]) -> None:
        self._templates = templates

    def rendering(self, news: News, locale: str) -> Words | FilledTemplate:
        """News in the locale, in its language, or in English: what is to be rendered, or the words that it has."""
        if isinstance(news, Campaigned):
            return Words(*news.words[nearest(locale, news.words)].model_dump().values())
        known = {each: template for (kind, each), template in self._templates.items() if kind is news.kind}
        which = nearest(locale, known)
        return _rendering(known[which], news, which)

    def render(self, news: News, locale: str) -> Words:
        """Render news here, in this process. Raises `Unrenderable`."""
        part = self.rendering(news, locale)
        return part if isinstance(part, Words) else rendered(part)


def load_templates(folder: Path | None) -> Templates:
    """The shipped templates, and over them the templates of the folder. Raises `Refused`, naming the bad template."""
    paths = {path.name: path for path in _templates_in(SHIPPED)}
    if folder is not None:
        try:
            paths |= {path.name: path for path in _templates_in(folder)}
        except OSError as error:
            raise Refused(f"{folder}: {error.strerror or error}") from None
    return Templates({_about(path): _checked(path) for _, path in sorted(paths.items())})


def words_of(templates: Templates, news: Sequence[News], locale: str) -> Words:
    """The title of the most important news, and the texts of all. Raises `Unrenderable`."""
    return together([templates.render(each, locale) for each in news])


def together(parts: Sequence[Words]) -> Words:
    """One message of the words of its news, the most important first."""
    return Words(parts[0].title, "\n".join(each.text for each in parts))


def _templates_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.suffix == _SUFFIX]


def _about(path: Path) -> tuple[NewsKind, str]:
    match = _NAME.fullmatch(path.name)
    if match is None or match["kind"] not in WITH_TEMPLATES:
        raise Refused(f"{path}: a template is named EVENT.LOCALE.txt, EVENT being one of {', '.join(WITH_TEMPLATES)}")
    return NewsKind(match["kind"]), match["locale"]


def _checked(path: Path) -> str:
    """The template, rendered with each sample of its kind before anybody relies on it. Raises `Refused`."""
    kind, locale = _about(path)
    source = _source(path)
    try:
        for sample in SAMPLES[kind]:
            rendering = _rendering(source, sample, locale)
            written(rendering, of=f" of {kind}")
            rendered(rendering)
    except Unrenderable as error:
        raise Refused(f"{path}: {error}") from None
    return source


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


def _rendering(template: str, news: News, locale: str) -> FilledTemplate:
    return FilledTemplate(template, locale, {name: getattr(news, name) for name in fields_of(news.kind)})
