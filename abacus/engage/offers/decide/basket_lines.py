"""The lines of a basket, and the uses of an offer on them. Pure."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asked import Asked
from abacus.engage.offers.decide.choice import Found, found
from abacus.engage.offers.decide.keys import Key
from abacus.engage.offers.decide.shelf import group_of


class Use(NamedTuple):
    """An offer on a line: the place of its item in the basket, and what it saves there or the points that it gives."""

    place: int
    found: Found


class BasketLines:
    """The questions about the items of a basket, under way. `by_key` has the lines that an offer under a key is for."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self.asked: Final = asked
        self.by_key: Final[dict[Key, list[Asked]]] = {}
        for each in asked:
            for key in dict.fromkeys(each.keys):
                self.by_key.setdefault(key, []).append(each)

    def suits(self, armed: Armed) -> bool:
        """Whether the offer fits as far as all lines are alike: whom it is for, and when."""
        return armed.suits(self.asked[0])

    def uses(self, armed: Armed) -> list[Use]:
        """On each line that the offer fits, what saves most first. Of few uses that are left there are no more."""
        if not self.suits(armed):
            return []
        group, scope, formula = group_of(armed), armed.offer.scope, armed.terms.formula
        uses = [
            Use(place, found(armed, asked))
            for place, asked in enumerate(self.asked)
            if asked.is_in_scope(scope) and asked.given(formula) and group.admits(asked) and armed.admits(asked)
        ]
        uses.sort(key=lambda use: (-use.found.worth, -use.found.points, use.place))
        if uses:
            del uses[self.asked[0].asker.uses_left.get(armed.number, len(uses)) :]
        return uses
