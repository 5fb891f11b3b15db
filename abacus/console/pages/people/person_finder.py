"""People of the house by the beginning of their id, for an admin."""

from collections.abc import Sequence
from typing import Final

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed


async def _people(call: Call, text: str, most: int) -> Sequence[Found]:
    wanted = text.casefold().removeprefix("person:")
    return [
        Found("person", each.person_id, each.person_id, ", ".join(map(str, each.grants)), each.person_id == wanted)
        for each in (one.person for one in await call.rooms[PeopleStore].all())
        if each.person_id.startswith(wanted)
    ][:most]


PEOPLE: Final = Finder("People", _people, Deed.MANAGE_PEOPLE, everywhere=True)
