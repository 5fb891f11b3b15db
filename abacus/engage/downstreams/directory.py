"""The downstreams as each process keeps them: read in the background, and at once when one is changed."""

import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

from abacus.engage.downstreams.store import DEPENDENCY, Signed
from abacus.platform.fresh_copy import FreshCopy

ByName = Mapping[str, Signed]


class DownstreamDirectory(FreshCopy[Signed, ByName]):
    """Serves the latest version of each downstream by its name, with its secrets; retired ones among them."""

    def __init__(
        self,
        load: Callable[[], Awaitable[Sequence[Signed]]],
        *,
        refresh_every_s: float = 10.0,
        load_within_s: float = 5.0,
        look_again_every_s: float = 0.05,
        monotonic: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__(
            DEPENDENCY,
            load,
            key=lambda each: each.downstream.name,
            build=lambda rows: {each.downstream.name: each for each in rows},
            refresh_every_s=refresh_every_s,
            load_within_s=load_within_s,
            look_again_every_s=look_again_every_s,
            monotonic=monotonic,
            rng=rng,
        )

    def by_name(self) -> ByName:
        """Raises `Unavailable` when they were never read."""
        return self.value()
