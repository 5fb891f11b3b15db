"""Counters by a part of their name."""

from collections.abc import Sequence
from typing import Final

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call


async def _counters(call: Call, text: str, most: int) -> Sequence[Found]:
    desk, wanted = call.reading.counters, text.casefold()
    names = sorted(desk.kind.name(each.document) for each in await desk.records())
    return [Found("counter", name, name, exact=name == wanted) for name in names if wanted in name.casefold()][:most]


COUNTERS: Final = Finder("Counters", _counters, everywhere=True)
