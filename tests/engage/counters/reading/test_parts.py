"""A store of which a part is away: what lies in the other is answered, and nobody waits for long."""

from collections.abc import Sequence

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.counters.reading.closed_parts import ClosedParts
from abacus.engage.counters.reading.probing import why_away
from abacus.engage.counters.reading.rounds import Rounds
from abacus.engage.counters.reading.service import CountService
from abacus.engage.counters.reading.types import Counted, Lookup, NotCounted
from abacus.engage.counters.types import SlotRange
from abacus.platform.health import Health
from tests.engage.counters.reading.asking import DAY_S, HOUR_S, NOW, NOW_S, StoreInParts, catalog, definition, events
from tests.support.fixed_clock import FixedClock
from tests.support.memory_counters import MemoryCounterStore

RAIN = definition()
CLOCK = FixedClock(NOW)
WITHIN_S = 0.05
CITIES = (1, 2, 3, 4)


@pytest.fixture
async def store() -> StoreInParts:
    store = StoreInParts(MemoryCounterStore(CLOCK))
    for city in CITIES:
        await store.save(events(RAIN, f"rain:{city}", {NOW_S - HOUR_S: city}))
    return store


def service_on(store: StoreInParts, health: Health) -> CountService:
    parts, known = ClosedParts(1000), catalog(RAIN)
    rounds = Rounds(store, CLOCK, within_s=WITHIN_S, parts=parts, keep_s=HOUR_S, health=health)
    return CountService(lambda: known, rounds, parts, CLOCK, late_by_s=DAY_S, keeps=lambda _: True)


async def told(service: CountService) -> list[int | str]:
    outcomes = await service.counts([Lookup(f"rain:{city}", NOW_S - DAY_S, NOW_S) for city in CITIES])
    return [each.units if isinstance(each, Counted) else _why(each) for each in outcomes]


def _why(outcome: NotCounted) -> str:
    assert outcome.why.is_ours
    return outcome.detail


async def test_parts_are_asked_side_by_side(store: StoreInParts) -> None:
    health = Health(())
    assert await told(service_on(store, health)) == [1, 2, 3, 4]
    assert (store.asked, health.missed) == ({"odd": 1, "even": 1}, {})


@pytest.mark.parametrize("silent", [False, True])
async def test_what_lies_in_a_part_that_is_away_has_no_count(store: StoreInParts, *, silent: bool) -> None:
    health = Health(())
    service = service_on(store, health)
    (store.silent if silent else store.away).add("odd")
    why = f"no answer within {WITHIN_S} s" if silent else "it is away"
    for _ in range(5):
        assert [each if isinstance(each, int) else each.rpartition(": ")[2] for each in await told(service)] == [
            *(why, 2, why, 4)
        ]
    assert store.asked == {"odd": 3, "even": 5}, "nobody waits for a part that has failed three times"
    assert health.missed == {"counter store in odd": why}


async def test_a_part_that_is_back_is_asked_again(store: StoreInParts) -> None:
    service = service_on(store, Health(()))
    store.away.add("odd")
    for _ in range(2):
        await told(service)
    store.away.clear()
    assert await told(service) == [1, 2, 3, 4]


async def test_a_store_answers_as_long_as_a_part_does(store: StoreInParts) -> None:
    assert await why_away(store, WITHIN_S) is None
    store.silent.add("even")
    assert await why_away(store, WITHIN_S) is None
    store.away.add("odd")
    why = await why_away(store, WITHIN_S)
    assert why is not None
    assert (why.dependency, why.detail) == ("counter store", "database unavailable: it is away")


async def test_a_store_that_cannot_tell_its_parts_is_away(store: StoreInParts, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(_: Sequence[SlotRange] | None = None) -> None:
        raise Unavailable("database", "nobody knows")

    monkeypatch.setattr(store, "probes", unknown)
    monkeypatch.setattr(store, "apart", unknown)
    assert (why := await why_away(store, WITHIN_S)) is not None
    assert why.detail == "database unavailable: nobody knows"
    assert set(await told(service_on(store, Health(())))) == {"database unavailable: nobody knows"}
