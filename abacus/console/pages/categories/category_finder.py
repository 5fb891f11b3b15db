"""Categories by a part of their name, and the trees of countries."""

from collections.abc import Iterable
from typing import Final

from abacus.console.pages.search.finder import Finder, Found, name_finder
from abacus.console.web.calls import Call
from abacus.engage.categories.kind import CategoryDesk
from abacus.people.types.deed import Deed


async def _things(call: Call) -> Iterable[Found]:
    """Each country, and each category by its path."""
    trees = [each for each in (await call.rooms[CategoryDesk].latest()).values() if call.may(Deed.SEE, each.country)]
    countries = [Found("categories", each.country, f"Categories of {each.country}") for each in trees]
    inside = [
        Found("categories", each.country, name, f"{each.country}: {' > '.join([*above, name])}")
        for each in trees
        for name, above in each.above.items()
    ]
    return [*countries, *inside]


CATEGORY_FINDER: Final[Finder] = name_finder("Categories", _things)
