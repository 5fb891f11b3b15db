"""The chapters of the story, each with what one capability did: a module with a `Chapter` in it, named here.

In the order of their steps: what is earned in a day comes before what is done about it.
"""

import importlib
from collections.abc import Sequence
from typing import Final

from abacus.cli.demo.story.chapter import Chapter
from abacus.cli.demo.story.house import House

CHAPTERS: Final = (
    "people",
    "rates",
    "assumptions",
    "segments",
    "counters",
    "campaigns",
    "journeys",
    "partner",
    "webhooks",
    "purchases",
    "offers",
    "places",
    "rewards",
    "holds",
    "support",
    "month_ends",
    "closes",
    "trouble",
)


def chapters_of(house: House) -> Sequence[Chapter]:
    return [_chapter(name)(house) for name in CHAPTERS]


def chapter_types() -> Sequence[type[Chapter]]:
    return [_chapter(name) for name in CHAPTERS]


def _chapter(name: str) -> type[Chapter]:
    module = importlib.import_module(f"{__name__}.{name}")
    found: type[Chapter] = next(
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Chapter) and each is not Chapter
    )
    return found
