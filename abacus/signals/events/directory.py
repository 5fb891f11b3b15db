"""The sources in force, as each process keeps them."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from abacus.documents.directory import DocumentDirectory, Load
from abacus.platform.fresh_copy import USUAL, Timing
from abacus.signals.events.decide.source import Source
from abacus.signals.events.kind import SOURCES


class SourceDirectory(DocumentDirectory[Source, Mapping[str, Source]]):
    """Serves the latest version of each source by its name, with the sources that are there from the start."""

    def __init__(self, load: Load[Source], built_in: Iterable[Source], timing: Timing = USUAL) -> None:
        reserved = {source.name: source for source in built_in}

        def by_name(published: Sequence[Source]) -> Mapping[str, Source]:
            return MappingProxyType({**{source.name: source for source in published}, **reserved})

        super().__init__(SOURCES, load, by_name, timing)

    def sources(self) -> Mapping[str, Source]:
        """The latest version of each source. Raises `Unavailable` when they were never read."""
        return self.value()
