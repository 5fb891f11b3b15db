"""The counters in force, as each process keeps them: read in the background, and at once when one is published."""

from collections.abc import Awaitable, Callable, Iterable, Mapping

from abacus.platform.fresh_copy import USUAL, FreshCopy, Timing
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.kind import COUNTERS, NOTHING, Published, by_name
from abacus.signals.events.decide.source import Source

Load = Callable[[Mapping[str, Definition], Mapping[str, Source]], Awaitable[Published]]


class CounterDirectory(FreshCopy[Published, Catalog]):
    """Serves the catalogue of all definitions, with the sources of the same moment: no event may be read by a source
    that is older than the definition which counts it, because it would lack the newest variables.

    A definition and a source stay the same objects from one reading to the next, and so does the catalogue while
    nothing is published. `load` gets those that are known, by label.
    """

    def __init__(self, load: Load, built_in: Iterable[Source], timing: Timing = USUAL) -> None:
        reserved = tuple(built_in)
        super().__init__(
            COUNTERS.plural,
            lambda before: load(*(before or NOTHING).known),
            lambda read: Catalog(read.definitions, by_name(reserved, read.sources)),
            timing,
        )

    def catalog(self) -> Catalog:
        """All counters. Raises `Unavailable` when they were never read."""
        return self.value()
