"""An origin that tells one value for all: in a sandbox nothing was counted, and nobody is asked."""

from collections.abc import Sequence

from abacus.signals.facts.types import Found
from abacus.signals.rules.decide.types import Origin


class OneValue:
    """A `FactSource` of any subjects."""

    def __init__(self, origin: Origin, value: Found) -> None:
        self._origin = origin
        self._value = value

    @property
    def origin(self) -> Origin:
        return self._origin

    async def load(self, wanted: Sequence[object]) -> list[Found]:
        return [self._value] * len(wanted)
