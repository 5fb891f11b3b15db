"""Campaigns by a part of their name or of what they are about."""

from collections.abc import Sequence
from typing import Final

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call
from abacus.engage.campaigns.named import campaigns_named
from abacus.people.types.deed import Deed


async def _campaigns(call: Call, text: str, most: int) -> Sequence[Found]:
    name = text.partition("@")[0]  # whatever its version
    found = await campaigns_named(call.reading.pool, name, call.countries(Deed.SEE), most)
    return [
        Found(
            "campaign",
            each.name,
            each.about or each.name,
            f"{each.name}@{each.version}, {each.country}, {each.status}",
            exact=text in {each.name, f"{each.name}@{each.version}"},
        )
        for each in found
    ]


CAMPAIGNS: Final = Finder("Campaigns", _campaigns)
