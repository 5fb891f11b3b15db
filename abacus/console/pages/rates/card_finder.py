"""Rate cards by the beginning of their scope."""

from collections.abc import Sequence
from typing import Final

from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import country_of
from abacus.pricing.store.cards import CardReader


async def _cards(call: Call, text: str, most: int) -> Sequence[Found]:
    wanted = text.casefold()
    return [
        Found("card", scope, f"Rate card of {scope}", exact=scope.casefold() == wanted)
        for scope in call.rooms[CardReader].book().scopes()
        if scope.casefold().startswith(wanted) and call.may(Deed.SEE, country_of(scope))
    ][:most]


CARDS: Final = Finder("Rate cards", _cards)
