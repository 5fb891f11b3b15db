"""A store of which a part is away: what lies in the other is answered, and nobody waits for long."""

import asyncio
from collections.abc import Sequence

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.health import Health
from abacus.platform.reading.part_cache import PartCache
from abacus.signals.counters.reading.closed_parts import closed_parts
from abacus.signals.counters.reading.rounds import Rounds
from abacus.signals.counters.reading.service import CountService
from abacus.signals.counters.reading.types import Counted, Lookup, NotCounted
from abacus.signals.counters.types import SlotRange
from tests.signals.counters.reading.asking import DAY_S, HOUR_S, NOW, NOW_S, StoreInParts, catalog, definition, events
from tests.support.fixed_clock import FixedClock
from tests.support.house import until
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


def service_on(store: StoreInParts, health: Health, within_s: float = WITHIN_S) -> CountService:
    parts, known = PartCache(closed_parts(1000), clock=CLOCK), catalog(RAIN)
    rounds = Rounds(store, within_s=within_s, parts=parts, health=health)
    return CountService(lambda: known, rounds, parts, CLOCK, late_by_s=DAY_S, keeps=lambda _: True)


async def told(service: CountService, *cities: int) -> list[int | str]:
    outcomes = await service.counts([Lookup(f"rain:{city}", NOW_S - DAY_S, NOW_S) for city in cities or CITIES])
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
    assert 3 <= store.asked["odd"] < 5 == store.asked["even"], "a part that has failed three times is asked seldom"
    assert health.missed == {"counter store in odd": why}


async def test_nobody_waits_for_a_part_that_he_does_not_ask(store: StoreInParts) -> None:
    service = service_on(store, Health(()), within_s=60)
    store.silent.add("odd")
    waiting = [asyncio.create_task(told(service)) for _ in range(3)]

    async def silent_is_asked() -> bool:
        return store.asked["odd"] > 0

    await until(silent_is_asked)
    async with asyncio.timeout(30):
        assert await told(service, 2, 4) == [2, 4]
    assert not any(each.done() for each in waiting)
    for each in waiting:
        each.cancel()


async def test_a_part_that_is_back_is_found_by_who_looks_whether_it_is(store: StoreInParts) -> None:
    health = Health(())
    service = service_on(store, health)
    store.away.add("odd")
    for _ in range(3):
        await told(service)
    assert set(health.missed) == {"counter store in odd"}
    store.away.clear()
    while health.missed:  # after a rest of a second
        assert await service.why_away() is None
        await asyncio.sleep(0.05)
    assert await told(service) == [1, 2, 3, 4]


async def test_a_store_answers_as_long_as_a_part_does(store: StoreInParts) -> None:
    service = service_on(store, Health(()))
    assert await service.why_away() is None
    store.silent.add("even")
    assert await service.why_away() is None
    store.away.add("odd")
    why = await service.why_away()
    assert why is not None
    assert why.detail in {"it is away", f"no answer within {WITHIN_S} s"}


async def test_a_store_that_cannot_tell_its_parts_is_away(store: StoreInParts, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(_: Sequence[SlotRange] | None = None) -> None:
        raise Unavailable("database", "nobody knows")

    monkeypatch.setattr(store, "probes", unknown)
    monkeypatch.setattr(store, "apart", unknown)
    service = service_on(store, Health(()))
    assert (why := await service.why_away()) is not None
    assert str(why) == "counter store unavailable: database unavailable: nobody knows"
    assert set(await told(service)) == {"database unavailable: nobody knows"}
