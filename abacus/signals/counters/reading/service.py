"""Answers lookups: each gets its count, or the reason why it has none."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.signals.counters.decide.catalog import Catalog
from abacus.signals.counters.decide.definition import Definition
from abacus.signals.counters.metrics import COUNT_LOOKUPS
from abacus.signals.counters.reading.closed_parts import ClosedParts
from abacus.signals.counters.reading.decide.plan import LookupPlan, Planner
from abacus.signals.counters.reading.rounds import STORE, Rounds, Sums
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted, Parts, Why
from abacus.signals.counters.types import SlotRange


class _Reading(NamedTuple):
    """A plan, the sum of its parts that are kept, and the ranges that have to be read."""

    plan: LookupPlan
    known: int
    wanted: list[SlotRange]


class CountService:
    """Counts by the catalog as it is at the time of the lookup. The rounds keep `parts`."""

    def __init__(
        self,
        catalog: Callable[[], Catalog],
        rounds: Rounds,
        parts: ClosedParts,
        clock: Clock,
        *,
        late_by_s: int,
        keeps: Callable[[Definition], bool],
    ) -> None:
        self.catalog: Final = catalog
        self._rounds = rounds
        self._parts = parts
        self._clock = clock
        self._late_by_s = late_by_s
        self._keeps = keeps

    async def counts(self, lookups: Sequence[Lookup]) -> list[Counted | NotCounted]:
        """The outcome of each lookup, in order: never all or nothing. Raises `Unavailable` when the definitions were
        never read.
        """
        now_s = self._clock.now().timestamp()
        planner = Planner(self.catalog(), int(now_s), late_by_s=self._late_by_s, keeps=self._keeps)
        wanted = Parts([], [])
        readings = [self._begun(planner.plan(lookup), wanted, now_s) for lookup in lookups]
        sums = await self._rounds.read(wanted) if wanted.closed or wanted.open else Sums({}, {})
        outcomes = [_counted(each, sums) if isinstance(each, _Reading) else each for each in readings]
        _count_outcomes(outcomes)
        return outcomes

    async def why_away(self) -> Unavailable | None:
        """Why no part of the store answers; None where some part does."""
        return await self._rounds.why_away()

    async def close(self) -> None:
        await self._rounds.close()

    def _begun(self, plan: LookupPlan | NotCounted, wanted: Parts, now_s: float) -> _Reading | NotCounted:
        """Adds to what is wanted what the plan needs beyond the parts that are kept."""
        if isinstance(plan, NotCounted):
            return plan
        key, (closed, opened) = plan.key, plan.shape
        known = 0
        ranges = [SlotRange(key, first, end) for first, end in opened]
        wanted.open.extend(ranges)
        if closed:
            found, missing = self._parts.known(key, closed, now_s)
            known = sum(found)
            parts = [SlotRange(key, first, end) for first, end in missing]
            wanted.closed.extend(parts)
            ranges += parts
        return _Reading(plan, known, ranges)


def _counted(reading: _Reading, sums: Sums) -> Counted | NotCounted:
    missing = [each for each in reading.wanted if each not in sums.by_range]
    if missing:
        return NotCounted(Why.UNAVAILABLE, str(sums.failures.get(missing[0]) or Unavailable(STORE, "no answer")))
    return reading.plan.counted(reading.known + sum([sums.by_range[each] for each in reading.wanted]))


def _count_outcomes(outcomes: Sequence[Counted | NotCounted]) -> None:
    names = ["counted" if isinstance(outcome, Counted) else str(outcome.why) for outcome in outcomes]
    for name, count in Counter(names).items():
        COUNT_LOOKUPS.labels(name).inc(count)
