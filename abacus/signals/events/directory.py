"""The sources in force, as each process keeps them: read in the background, and at once when one is published."""

import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from abacus.platform.fresh_copy import FreshCopy
from abacus.signals.events.decide.source import Source
from abacus.signals.events.store import DEPENDENCY, SourceRecord

Load = Callable[[Mapping[str, Source]], Awaitable[Sequence[SourceRecord]]]


class SourceDirectory(FreshCopy[Source, Mapping[str, Source]]):
    """Serves the latest version of each source by its name, with the sources that are there from the start.

    A source stays the same object from one reading to the next, and so does the mapping while nothing is published, so
    values that callers keep for it stay good. `load` gets the sources that are known, by label.
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
        self._from_the_start = {source.name: source for source in built_in}
        self._known: dict[str, Source] = {}
        super().__init__(
            DEPENDENCY,
            lambda: self._latest(load),
            key=lambda source: source.name,
            build=self._by_name,
            refresh_every_s=refresh_every_s,
            load_within_s=load_within_s,
            look_again_every_s=look_again_every_s,
            monotonic=monotonic,
            rng=rng,
        )

    def sources(self) -> Mapping[str, Source]:
        """The latest version of each source. Raises `Unavailable` when they were never read."""
        return self.value()

    async def _latest(self, load: Load) -> list[Source]:
        sources = [record.source for record in await load(self._known)]
        self._known = {source.label: source for source in sources}
        return sources

    def _by_name(self, published: Sequence[Source]) -> Mapping[str, Source]:
        return MappingProxyType({**{source.name: source for source in published}, **self._from_the_start})
