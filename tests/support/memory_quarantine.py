"""A quarantine in memory."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from abacus.core.clock import Clock
from abacus.platform.postgres import Also, nothing_else
from abacus.platform.quarantine.store import ALL_HELD, HELD, REPLAYED, Which
from abacus.platform.quarantine.types import HeldItem, Item, ReplayBatch


class MemoryQuarantine:
    """`QuarantinePort` in memory, with the operations that a replay needs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, HeldItem] = {}

    async def add(self, items: Sequence[Item]) -> None:
        for item in items:
            before = self._kept.get(item.id)
            if before is None:
                self._kept[item.id] = HeldItem(item, HELD, self._clock.now(), None, 0)
            elif before.status != HELD:
                self._kept[item.id] = replace(before, item=item, status=HELD, set_aside_at=self._clock.now())

    def kept(self) -> tuple[HeldItem, ...]:
        """Every item, held or replayed."""
        return tuple(self._kept.values())

    async def list(self, which: Which = ALL_HELD, *, limit: int = 100) -> Sequence[HeldItem]:
        newest_first = sorted(self._kept.values(), key=lambda held: held.item.id)
        newest_first.sort(key=lambda held: held.set_aside_at, reverse=True)
        return [held for held in newest_first if _is_of(held, which)][:limit]

    async def get(self, id_: str) -> HeldItem | None:
        return self._kept.get(id_)

    @asynccontextmanager
    async def replaying(
        self,
        which: Which = ALL_HELD,
        *,
        limit: int = 100,
        also: Also = nothing_else,  # there is no database to write to
    ) -> AsyncIterator[ReplayBatch]:
        chosen = [
            held
            for held in sorted(self._kept.values(), key=lambda held: (held.set_aside_at, held.item.id))
            if held.status == HELD and _is_of(held, which)
        ][:limit]
        # Items are marked before they are sent: one that is refused again at once ends as held.
        for held in chosen:
            self._kept[held.item.id] = replace(
                held, status=REPLAYED, replayed_at=self._clock.now(), replays=held.replays + 1
            )
        replaying = ReplayBatch(chosen, {})
        try:
            yield replaying
        except BaseException:
            self._kept.update({held.item.id: held for held in chosen})
            raise
        for held in chosen:
            fault = replaying.unfit.get(held.item.id)
            if fault is not None:
                item = replace(held.item, reason=fault.reason, detail=fault.detail)
                self._kept[held.item.id] = replace(held, item=item, set_aside_at=self._clock.now())


def _is_of(held: HeldItem, which: Which) -> bool:
    since, until = which.since or held.set_aside_at, which.until
    in_time = since <= held.set_aside_at and (until is None or held.set_aside_at < until)
    is_meant = which.status in (None, held.status) and which.reason in (None, held.item.reason)
    return in_time and is_meant and (not which.ids or held.item.id in which.ids)
