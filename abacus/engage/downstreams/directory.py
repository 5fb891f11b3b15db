"""The downstreams as each process keeps them: read in the background, and at once when one is changed."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from abacus.engage.downstreams.kind import DOWNSTREAMS
from abacus.engage.downstreams.store import Signed
from abacus.platform.fresh_copy import FreshCopy

ByName = Mapping[str, Signed]


class DownstreamDirectory(FreshCopy[Sequence[Signed], ByName]):
    """Serves the latest version of each downstream by its name, with its secrets; retired ones among them."""

    def __init__(self, load: Callable[[], Awaitable[Sequence[Signed]]]) -> None:
        super().__init__(
            DOWNSTREAMS.plural, lambda _: load(), lambda rows: {each.downstream.name: each for each in rows}
        )

    def by_name(self) -> ByName:
        """Raises `Unavailable` when they were never read."""
        return self.value()
