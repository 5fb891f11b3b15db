"""The sources in force, as each process keeps them: read in the background, and at once when one is published."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from abacus.platform.fresh_copy import USUAL, FreshCopy, Timing
from abacus.signals.events.decide.source import Source
from abacus.signals.events.store import DEPENDENCY, SourceRecord

Load = Callable[[Mapping[str, Source]], Awaitable[Sequence[SourceRecord]]]


class SourceDirectory(FreshCopy[Sequence[Source], Mapping[str, Source]]):
    """Serves the latest version of each source by its name, with the sources that are there from the start.

    A source stays the same object from one reading to the next, and so does the mapping while nothing is published, so
    values that callers keep for it stay good. `load` gets the sources that are known, by label.
    """

    def __init__(self, load: Load, built_in: Iterable[Source], timing: Timing = USUAL) -> None:
        reserved = {source.name: source for source in built_in}

        async def latest(before: Sequence[Source] | None) -> Sequence[Source]:
            return [record.source for record in await load({source.label: source for source in before or ()})]

        def by_name(published: Sequence[Source]) -> Mapping[str, Source]:
            return MappingProxyType({**{source.name: source for source in published}, **reserved})

        super().__init__(DEPENDENCY, latest, by_name, timing)

    def sources(self) -> Mapping[str, Source]:
        """The latest version of each source. Raises `Unavailable` when they were never read."""
        return self.value()
