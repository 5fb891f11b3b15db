"""Messages to members: what their templates say, which is known when they are told."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import orjson

from abacus.engage.actions.decide.templates import restored
from abacus.engage.actions.types import DueAction
from abacus.engage.notify.decide.message import Words
from abacus.engage.notify.decide.news import News
from abacus.engage.notify.decide.notice import Notice
from abacus.engage.notify.decide.template import FilledTemplate, Unrenderable
from abacus.engage.notify.renderer import Renderer

InWords: TypeAlias = Mapping[str, Words]  # by locale


# The news of an action, from its own key, its document and its words in each locale.
NewsOf: TypeAlias = Callable[[DueAction, str, Mapping[str, Any], InWords], News]


class Told(NamedTuple):
    """The notices of actions, and the actions whose templates cannot be rendered, with the reason."""

    notices: Sequence[Notice]
    refused: Mapping[DueAction, str]


async def told(actions: Sequence[DueAction], renderer: Renderer, news_of: Mapping[str, NewsOf]) -> Told:
    """`news_of` is by the kind of owners. Raises `Unavailable`."""
    documents = [orjson.loads(each.document) for each in actions]
    notices: list[Notice] = []
    refused: dict[DueAction, str] = {}
    for action, document, words in zip(actions, documents, await in_words(documents, renderer), strict=True):
        if isinstance(words, Unrenderable):
            refused[action] = f"its message: {words}"
        else:
            key = f"{action.key}/{action.number}"
            news = news_of[action.owner_kind](action, key, document, words)
            priority = document.get("priority", 0)  # none where an earlier version decided
            notices.append(Notice(action.member_id, key, action.decided_at, 0, news, priority))
    return Told(notices, refused)


async def in_words(documents: Sequence[Mapping[str, Any]], renderer: Renderer) -> list[InWords | Unrenderable]:
    """What each document of an action says. Raises `Unavailable`."""
    renderings = [_renderings(each) for each in documents]
    answers = iter(await renderer.render([each for some in renderings for each in some.values()]))
    said: list[InWords | Unrenderable] = []
    for some in renderings:
        words = {locale: next(answers) for locale in some}
        faults = [each for each in words.values() if isinstance(each, Unrenderable)]
        fine = {locale: each for locale, each in words.items() if isinstance(each, Words)}
        said.append(faults[0] if faults else fine)
    return said


def _renderings(document: Mapping[str, Any]) -> dict[str, FilledTemplate]:
    fields = restored(document["fields"])
    return {locale: FilledTemplate(template, locale, fields) for locale, template in document["templates"].items()}
