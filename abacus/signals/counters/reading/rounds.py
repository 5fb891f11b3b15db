"""Rounds of reading: each part of the store has its own, so that a part that is away keeps no other waiting."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.signals.counters.reading.closed_parts import ClosedParts
from abacus.signals.counters.reading.part_rounds import PartRounds
from abacus.signals.counters.reading.types import Parts
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import SlotRange

STORE: Final = "counter store"


class Sums(NamedTuple):
    """What could be read, and why the other ranges could not."""

    by_range: Mapping[SlotRange, int]
    failures: Mapping[SlotRange, Unavailable]


class Rounds:
    """Reads the sums of ranges, by rounds as `PartRounds` describes them."""

    def __init__(
        self,
        store: CounterStore,
        *,
        within_s: float,
        parts: ClosedParts,
        at_once: int = 2,
        health: Health | None = None,
    ) -> None:
        self._store = store
        self._new = partial(
            PartRounds,
            store=store,
            within_s=within_s,
            parts=parts,
            at_once=at_once,
            health=health,
        )
        self._of_parts: dict[str | None, PartRounds] = {}

    async def read(self, wanted: Parts) -> Sums:
        """The sums of these ranges, and perhaps of others, as far as they can be read within the time."""
        try:
            closed, opened = await self._store.apart(wanted.closed), await self._store.apart(wanted.open)
        except Unavailable as error:
            return Sums({}, dict.fromkeys([*wanted.closed, *wanted.open], error))
        asked = {name: Parts([*closed.get(name, ())], [*opened.get(name, ())]) for name in {**closed, **opened}}
        found = await asyncio.gather(*(self._of(name).read(part) for name, part in asked.items()))
        sums: dict[SlotRange, int] = {}
        failures: dict[SlotRange, Unavailable] = {}
        for part, (by_range, failure) in zip(asked.values(), found, strict=True):
            sums.update(by_range)
            if failure is not None:
                failures.update(dict.fromkeys([*part.closed, *part.open], failure))
        return Sums(sums, failures)

    async def why_away(self) -> Unavailable | None:
        """Why no part of the store answers; None where some part does."""
        try:
            probes = await self._store.probes()
        except Unavailable as error:
            return Unavailable(STORE, str(error))
        failures = await asyncio.gather(*(self._of(name).why_away(probe) for name, probe in probes.items()))
        return None if None in failures else failures[0]

    async def close(self) -> None:
        """Waits for the rounds that are under way."""
        for rounds in list(self._of_parts.values()):  # a probe may add one meanwhile
            await rounds.close()

    def _of(self, part: str | None) -> PartRounds:
        if part not in self._of_parts:
            self._of_parts[part] = self._new(STORE if part is None else f"{STORE} in {part}")
        return self._of_parts[part]
