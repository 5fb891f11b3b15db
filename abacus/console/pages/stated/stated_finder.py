"""Documents with states by a part of their name or of what they are about."""

from collections.abc import Sequence
from typing import Any

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.pages.stated.stated_pages import StatedPages
from abacus.console.web.calls import Call
from abacus.documents.stated_names import versions_named
from abacus.people.types.deed import Deed


def stated_finder(pages: StatedPages[Any, Any]) -> Finder:
    kind = pages.kind

    async def find(call: Call, text: str, most: int) -> Sequence[Found]:
        name = text.partition("@")[0]  # whatever its version
        found = await versions_named(call.reading.pool, kind, name, call.countries(Deed.SEE), most)
        return [
            Found(
                kind.word,
                each.name,
                each.about or each.name,
                f"{each.name}@{each.version}, {each.country}, {each.status}",
                exact=text in {each.name, f"{each.name}@{each.version}"},
            )
            for each in found
        ]

    return Finder(pages.title, find)
