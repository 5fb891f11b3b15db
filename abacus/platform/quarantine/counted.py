"""A quarantine whose new items are counted in the metrics."""

from collections.abc import Sequence

from abacus.platform.metrics import QUARANTINED
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item


class CountedQuarantine:
    """`QuarantinePort`."""

    def __init__(self, store: QuarantineStore) -> None:
        self._store = store

    async def add(self, items: Sequence[Item]) -> None:
        for stage, reason in await self._store.keep(items):
            QUARANTINED.labels(stage, reason).inc()
