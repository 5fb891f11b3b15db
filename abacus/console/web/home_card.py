"""A card of the first page: each capability brings its own."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from abacus.console.web.calls import Call
from abacus.console.web.parts import Part
from abacus.people.types.deed import Deed
from abacus.people.types.person import Role


def _nothing(_: object) -> None:
    """Most cards have nothing that waits for one person."""


@dataclass(frozen=True)
class HomeCard:
    """`read` gives the value that the template shows, or None where there is nothing to say: the card is left out then.
    `ranks`: how early people of a role see it; the lowest number stands first. `waits`: what of the value waits for the
    person, as a clause, for the line above all cards.
    """

    name: str
    title: str
    template: str
    read: Callable[[Call], Awaitable[object | None]]
    ranks: Mapping[Role, int] = field(default_factory=dict)
    deed: Deed = Deed.SEE
    everywhere: bool = False
    usual: int = 50
    waits: Callable[[Any], str | None] = _nothing

    def is_for(self, call: Call) -> bool:
        return call.is_open(self.deed, everywhere=self.everywhere)

    def rank(self, call: Call) -> int:
        roles = {grant.role for grant in call.actor.grants or ()}
        return min((self.ranks[role] for role in roles if role in self.ranks), default=self.usual)


@dataclass(frozen=True)
class CardShown:
    """A card with its value, or the dependency that is down."""

    name: str
    title: str
    template: str
    part: Part[Any]
