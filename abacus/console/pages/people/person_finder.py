"""People of the house by a part of their id, for an admin."""

from collections.abc import Iterable
from typing import Final

from abacus.console.pages.search.finder import Found, name_finder
from abacus.console.web.calls import Call
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed


async def _people(call: Call) -> Iterable[Found]:
    every = [each.person for each in await call.rooms[PeopleStore].all()]
    return [Found("person", each.person_id, each.person_id, ", ".join(map(str, each.grants))) for each in every]


PEOPLE: Final = name_finder("People", _people, Deed.MANAGE_PEOPLE, everywhere=True)
