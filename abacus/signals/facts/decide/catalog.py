"""The left sides that are looked up, by the names of their origins. Pure."""

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from abacus.core.fields import Bad, quoted
from abacus.signals.events.types import VariableType
from abacus.signals.rules.decide.names import check_named
from abacus.signals.rules.decide.sides import Resolver
from abacus.signals.rules.decide.types import Origin, Side, looked_up


class Sides(Protocol):
    """The left sides of one origin."""

    @property
    def origin(self) -> Origin: ...

    def type_of(self, text: str) -> VariableType:
        """Raises `Bad` for a left side that means nothing."""
        ...

    def texts(self) -> Iterable[str]:
        """The left sides that a person may choose from; some may mean nothing beside these facts."""
        ...


class Catalog:
    """The left sides of several origins, of which no two have one name."""

    def __init__(self, *sides: Sides) -> None:
        self._sides = {each.origin.name: each for each in sides}
        if len(self._sides) < len(sides):
            raise ValueError(f"two origins have one name: {[each.origin.name for each in sides]}")

    def resolver(self, of_facts: Resolver) -> Resolver:
        """Resolves the left sides of the catalog, and hands on all others."""

        def resolve(text: str) -> Side | None:
            name, dot, _ = text.partition(".")
            sides = self._sides.get(name) if dot else None
            return of_facts(text) if sides is None else looked_up(sides.origin, text, sides.type_of(text))

        return resolve

    def types(self) -> Mapping[str, VariableType]:
        """The left sides to choose from, with their types."""
        types = {}
        for sides in self._sides.values():
            for text in sides.texts():
                with suppress(Bad):
                    types[text] = sides.type_of(text)
        return types


@dataclass(frozen=True, slots=True)
class FixedSides:
    """Left sides that are always there."""

    origin: Origin
    types: Mapping[str, VariableType]

    def type_of(self, text: str) -> VariableType:
        if text in self.types:
            return self.types[text]
        near = difflib.get_close_matches(text, list(self.types), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(self.types)}"
        raise Bad(f"{quoted(text)} is unknown; {hint}")

    def texts(self) -> Iterable[str]:
        return self.types


@dataclass(frozen=True, slots=True)
class NamedSides:
    """A left side for each thing that people have named. `what` and `listed_by` tell an author what is missing."""

    origin: Origin
    names: Collection[str]
    type_of_name: Callable[[str], VariableType]
    what: str
    listed_by: str

    def type_of(self, text: str) -> VariableType:
        name = text.removeprefix(f"{self.origin.name}.")
        check_named(name, self.names, self.what, self.listed_by)
        return self.type_of_name(name)

    def texts(self) -> Iterable[str]:
        return (f"{self.origin.name}.{name}" for name in sorted(self.names))


MEMBER: Final = Origin("member", cost=20)
TIER: Final = "member.tier"
BALANCE: Final = "member.balance"
COUNTRY: Final = "member.country"
MEMBER_SIDES: Final = FixedSides(
    MEMBER, {TIER: VariableType.TEXT, BALANCE: VariableType.INTEGER, COUNTRY: VariableType.TEXT}
)


SEGMENT: Final = Origin("segment", cost=10)


def segment_sides(names: Collection[str]) -> NamedSides:
    return NamedSides(SEGMENT, names, lambda _: VariableType.BOOLEAN, "segment", "abacus segments list")
