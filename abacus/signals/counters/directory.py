"""The counters in force, as each process keeps them: read in the background, and at once when one is published."""

import random
import time
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence

from abacus.platform.fresh_copy import FreshCopy
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.definitions import DEPENDENCY, Published, by_name
from abacus.signals.events.decide.source import Source

Load = Callable[[Mapping[str, Definition], Mapping[str, Source]], Awaitable[Published]]


class CounterDirectory(FreshCopy[Definition | Source, Catalog]):
    """Serves the catalogue of all definitions, with the sources of the same moment: no event may be read by a source
    that is older than the definition which counts it, because it would lack the newest variables.

    A definition and a source stay the same objects from one reading to the next, and so does the catalogue while
    nothing is published. `load` gets those that are known, by label.
    """

    def __init__(
        self,
        load: Load,
        built_in: Iterable[Source],
        *,
        refresh_every_s: float = 10.0,
        load_within_s: float = 5.0,
        look_again_every_s: float = 0.05,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._built_in = tuple(built_in)
        self._definitions: dict[str, Definition] = {}
        self._sources: dict[str, Source] = {}
        super().__init__(
            DEPENDENCY,
            lambda: self._published(load),
            key=_key,
            build=self._catalog,
            refresh_every_s=refresh_every_s,
            load_within_s=load_within_s,
            look_again_every_s=look_again_every_s,
            monotonic=monotonic,
            rng=rng,
        )

    def catalog(self) -> Catalog:
        """All counters. Raises `Unavailable` when they were never read."""
        return self.value()

    async def _published(self, load: Load) -> list[Definition | Source]:
        definitions, sources = await load(self._definitions, self._sources)
        self._definitions = {f"{each.id}@{each.version}": each for each in definitions}
        self._sources = {each.label: each for each in sources}
        return [*definitions, *sources]

    def _catalog(self, rows: Sequence[Definition | Source]) -> Catalog:
        sources = by_name(self._built_in, (row for row in rows if isinstance(row, Source)))
        return Catalog((row for row in rows if isinstance(row, Definition)), sources)


def _key(row: Definition | Source) -> Hashable:
    return row.id if isinstance(row, Definition) else row.name
