"""`segment.NAME`: whether a segment has the member. Pure."""

from collections.abc import Collection
from typing import Final

from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import NamedSides
from abacus.signals.rules.decide.types import Origin

SEGMENT: Final = Origin("segment", cost=10)


def segment_sides(names: Collection[str]) -> NamedSides:
    return NamedSides(SEGMENT, names, lambda _: VariableType.BOOLEAN, "segment", "abacus segments list")
