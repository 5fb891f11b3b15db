"""Versions in force whose rules ask something of members, as a process keeps them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

from abacus.documents.stated import Running
from abacus.documents.stated_directory import InUse
from abacus.engage.asking.decide.sides import Published
from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.types import VariableType

AroundT = TypeVar("AroundT", bound=Published)
Kept = TypeVar("Kept")
Counters: TypeAlias = Mapping[str, Definition]
Services: TypeAlias = Mapping[str, VariableType]

BESIDE: Final = (COUNTERS, DOWNSTREAMS)  # the kinds that such rules speak of


class KeptVersions(Generic[Running, AroundT, Kept]):
    """What is made of each version stays the same object while the version, and what rules may speak of, stay the same.
    `around` has what they speak of.
    """

    def __init__(
        self, around_of: Callable[[Counters, Services], AroundT], keep: Callable[[Running, AroundT], Kept]
    ) -> None:
        self._around_of = around_of
        self._keep = keep
        self._kept: dict[str, Kept] = {}
        self.around = around_of({}, {})

    def put(self, read: InUse[Running]) -> Sequence[Kept]:
        """The versions that were read now, in their order."""
        counters = {each.name: each for each in read.beside.of(COUNTERS)}
        services = {each.name: each.service.answers for each in read.beside.of(DOWNSTREAMS) if each.service}
        if (self.around.counters, self.around.externals) != (counters, services):
            self.around = self._around_of(counters, services)
            self._kept = {}
        before = self._kept
        self._kept = {each.label: before.get(each.label) or self._keep(each, self.around) for each in read.versions}
        return list(self._kept.values())
