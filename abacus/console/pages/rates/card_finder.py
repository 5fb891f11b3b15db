"""Rate cards by a part of their scope."""

from collections.abc import Iterable
from typing import Final

from abacus.console.pages.search.finder import Found, name_finder
from abacus.console.web.calls import Call
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import country_of
from abacus.pricing.store.cards import CardReader


async def _cards(call: Call) -> Iterable[Found]:
    scopes = call.rooms[CardReader].book().scopes()
    return [Found("card", each, each) for each in scopes if call.may(Deed.SEE, country_of(each))]


CARDS: Final = name_finder("Rate cards", _cards)
