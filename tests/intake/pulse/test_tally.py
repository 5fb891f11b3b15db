"""Sums of what was posted: added by every process, kept while the database is away, and forgotten in time."""

from collections.abc import Sequence
from datetime import timedelta
from math import inf

import pytest

from abacus.core.errors import Unavailable
from abacus.intake.awarding.awarder import Awarder
from abacus.intake.awarding.counted import CountedLedger
from abacus.intake.pulse.decide.steps import begin_of
from abacus.intake.pulse.store import PulseStore
from abacus.intake.pulse.tally import Tally
from abacus.intake.pulse.types import Step, Sum
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.platform.postgres import Pool
from abacus.platform.sqs.packer import pack
from abacus.platform.sqs.port import Received
from tests.support.awards import NOW, award
from tests.support.door import door
from tests.support.fixed_clock import FixedClock
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_quarantine import MemoryQuarantine


def awards(*seconds: float, country: str = "SG", points: int = 10) -> list[Award]:
    return [award(occurred_at=NOW - timedelta(seconds=each), country=country, points=points) for each in seconds]


async def sums(store: PulseStore, step: Step, countries: Sequence[str] | None = None) -> list[tuple[object, ...]]:
    return sorted(each[1:] for each in await store.since(step, begin_of(step, NOW), countries))


@pytest.mark.parametrize("step", Step)
async def test_processes_add_to_the_same_sums(pool: Pool, step: Step) -> None:
    store, clock = PulseStore(pool), FixedClock(NOW)
    one, other = Tally(store, clock), Tally(store, clock)
    one.posted(awards(0.05, 0.1, 0.4), NOW)
    one.posted(awards(0.1, 100_000, country="VN", points=7), NOW)
    other.posted(awards(0.02), NOW)
    for tally in (one, other, one):
        await tally.write()
    assert await sums(store, step) == [(0.1, 4, 37), (0.5, 1, 10), (inf, 1, 7)]
    assert await sums(store, step, ["VN"]) == [(0.1, 1, 7), (inf, 1, 7)]
    assert await sums(store, step, []) == []


class Away(PulseStore):
    """A database that is away for so many writes."""

    def __init__(self, pool: Pool, writes: int) -> None:
        super().__init__(pool)
        self._left = writes

    async def add(self, sums: Sequence[Sum]) -> None:
        self._left -= 1
        if self._left >= 0:
            raise Unavailable("database", "away")
        await super().add(sums)


async def test_sums_wait_for_the_database(pool: Pool) -> None:
    store, clock = Away(pool, 2), FixedClock(NOW)
    tally = Tally(store, clock)
    tally.posted(awards(0.1), NOW)
    await tally.write()
    tally.posted(awards(0.1), NOW)
    await tally.write()
    assert await sums(store, Step.MINUTE) == []
    await tally.write()
    assert await sums(store, Step.MINUTE) == [(0.1, 2, 20)]


async def test_what_waits_for_longer_than_it_is_kept_is_dropped(pool: Pool) -> None:
    store, clock = Away(pool, 1), FixedClock(NOW)
    tally = Tally(store, clock)
    tally.posted(awards(0.1), NOW)
    clock.set(NOW + Step.MINUTE.kept + timedelta(minutes=2))
    await tally.write()
    await tally.write()
    assert await sums(store, Step.MINUTE) == []
    assert await sums(store, Step.QUARTER) == [(0.1, 1, 10)]


async def test_old_sums_are_forgotten_and_new_ones_are_not(pool: Pool) -> None:
    store, clock = PulseStore(pool), FixedClock(NOW)
    tally = Tally(store, clock)
    tally.posted(awards(0.1), NOW)
    await tally.write()
    later = NOW + Step.MINUTE.kept + timedelta(hours=1)
    clock.set(later)
    tally.posted(awards(0.1), later)
    await tally.write()
    assert [each.since for each in await store.since(Step.MINUTE, NOW - timedelta(days=1))] == [later]
    assert len(await store.since(Step.QUARTER, NOW - timedelta(days=1))) == 2


async def test_the_awarder_tells_what_it_posted_and_nothing_twice(pool: Pool) -> None:
    store, clock = PulseStore(pool), FixedClock(NOW)
    tally, ledger, quarantine = Tally(store, clock), MemoryLedger(clock), MemoryQuarantine(clock)
    awarder = Awarder(door(clock), CountedLedger(ledger, clock, tally), ledger, quarantine)
    (body,) = pack("awards", map(encode_award, awards(2.5)))
    for _ in range(2):
        await awarder.handle([Received("1", "1", body, 1)])
    await tally.write()
    assert await sums(store, Step.MINUTE) == [(3.0, 1, 10)]
