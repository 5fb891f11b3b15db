"""The promises of the quarantine, wherever its items are kept."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from prometheus_client import Counter

from abacus.core.errors import Reason, SetAside
from abacus.platform.metrics import QUARANTINED
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.counted import CountedQuarantine
from abacus.platform.quarantine.store import HELD, REPLAYED, QuarantineStore, Which
from abacus.platform.quarantine.types import Item, Stage
from tests.support.fixed_clock import FixedClock
from tests.support.memory_quarantine import MemoryQuarantine

NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)
LATER: Final = NOW + timedelta(hours=1)

Quarantine = MemoryQuarantine | QuarantineStore


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOW)


@pytest.fixture(params=["memory", "postgres"])
def quarantine(request: pytest.FixtureRequest, clock: FixedClock) -> Quarantine:
    if request.param == "memory":
        return MemoryQuarantine(clock)
    pool: Pool = request.getfixturevalue("pool")
    return QuarantineStore(pool, clock)


def item(number: int, reason: Reason = Reason.INVALID, detail: str = "because") -> Item:
    return Item(Stage.TRANSACTION, f"kafka:t/0/{number}", reason, detail, b"\xff\x00body")


def told(counter: Counter) -> float:
    return next(sample.value for metric in counter.collect() for sample in metric.samples)


async def held(quarantine: Quarantine) -> dict[str, str]:
    return {each.item.origin: each.item.detail for each in await quarantine.list()}


async def test_items_are_kept_whole_and_listed_newest_first(quarantine: Quarantine, clock: FixedClock) -> None:
    await quarantine.add([item(1)])
    clock.set(LATER)
    await quarantine.add([item(2, Reason.UNKNOWN_VERTICAL)])
    listed = await quarantine.list()
    assert [(each.item, each.status, each.set_aside_at, each.replays) for each in listed] == [
        (item(2, Reason.UNKNOWN_VERTICAL), HELD, LATER, 0),
        (item(1), HELD, NOW, 0),
    ]
    assert [each.item for each in await quarantine.list(Which(reason=Reason.INVALID))] == [item(1)]
    assert [each.item for each in await quarantine.list(Which(since=LATER))] == [item(2, Reason.UNKNOWN_VERTICAL)]
    assert [each.item for each in await quarantine.list(Which(until=LATER))] == [item(1)]
    assert len(await quarantine.list(limit=1)) == 1
    assert (await quarantine.get(item(1).id) or listed[0]).item == item(1)
    assert await quarantine.get("nothing") is None


async def test_the_same_item_again_is_kept_once(quarantine: Quarantine, clock: FixedClock) -> None:
    await quarantine.add([item(1), item(1)])
    clock.set(LATER)
    await quarantine.add([item(1, detail="again")])
    assert [(each.item.detail, each.set_aside_at) for each in await quarantine.list()] == [("because", NOW)]


async def test_what_was_replayed_is_no_longer_held_until_it_fails_again(
    quarantine: Quarantine, clock: FixedClock
) -> None:
    await quarantine.add([item(1), item(2, Reason.UNKNOWN_VERTICAL)])
    async with quarantine.replaying(Which(reason=Reason.INVALID)) as chosen:
        assert [each.item for each in chosen.held] == [item(1)]
    assert await held(quarantine) == {"kafka:t/0/2": "because"}
    replayed = await quarantine.list(Which(status=REPLAYED))
    assert [(each.item, each.replays, each.replayed_at) for each in replayed] == [(item(1), 1, NOW)]

    clock.set(LATER)
    await quarantine.add([item(1, detail="still wrong")])
    assert await held(quarantine) == {"kafka:t/0/1": "still wrong", "kafka:t/0/2": "because"}


async def test_a_replay_that_fails_leaves_everything_held(quarantine: Quarantine) -> None:
    await quarantine.add([item(1)])
    with pytest.raises(ZeroDivisionError):
        async with quarantine.replaying():
            raise ZeroDivisionError
    assert await held(quarantine) == {"kafka:t/0/1": "because"}


async def test_what_a_replay_cannot_send_stays_held_with_its_latest_fault(
    quarantine: Quarantine, clock: FixedClock
) -> None:
    await quarantine.add([item(1), item(2)])
    clock.set(LATER)
    async with quarantine.replaying() as chosen:
        chosen.unfit[item(2).id] = SetAside(Reason.UNKNOWN_SOURCE, "nobody's")
    (still,) = await quarantine.list()
    assert (still.item.id, still.item.reason, still.item.detail) == (item(2).id, Reason.UNKNOWN_SOURCE, "nobody's")
    assert (still.status, still.set_aside_at, still.replayed_at, still.replays) == (HELD, LATER, None, 0)
    assert [each.item.id for each in await quarantine.list(Which(status=REPLAYED))] == [item(1).id]


async def test_a_replay_takes_what_it_is_told(quarantine: Quarantine, clock: FixedClock) -> None:
    await quarantine.add([item(1), item(2)])
    clock.set(LATER)
    await quarantine.add([item(3)])
    async with quarantine.replaying(Which(ids=[item(2).id, "nothing"])) as chosen:
        assert [each.item for each in chosen.held] == [item(2)]
    async with quarantine.replaying(Which(until=LATER)) as chosen:
        assert [each.item for each in chosen.held] == [item(1)]
    async with quarantine.replaying(limit=0) as chosen:
        assert list(chosen.held) == []
    assert await held(quarantine) == {"kafka:t/0/3": "because"}


async def test_metrics_count_an_item_that_is_set_aside_again_once(pool: Pool, clock: FixedClock) -> None:
    """Two workers that read one topic set the same message aside; a crash does it twice. After a replay it is news."""
    store, counted = QuarantineStore(pool, clock), QUARANTINED.labels("transaction", "unvouched")
    quarantine, before = CountedQuarantine(store), told(counted)
    twice = item(1, Reason.UNVOUCHED)
    for _ in range(2):
        await quarantine.add([twice])
        await quarantine.add([twice, item(2, Reason.UNVOUCHED)])
    assert told(counted) - before == 2
    async with store.replaying(Which(ids=[twice.id])):
        pass
    await quarantine.add([twice])
    assert told(counted) - before == 3


async def test_what_is_meant_is_listed_and_counted(pool: Pool, clock: FixedClock) -> None:
    """Of four items that were set aside one after the other, of two reasons, the last one is replayed."""
    store, tier = QuarantineStore(pool, clock), Reason.UNKNOWN_TIER
    items = [item(number, reason) for number, reason in enumerate((Reason.INVALID, tier, Reason.INVALID, tier))]
    moments = [NOW + timedelta(minutes=number) for number in range(4)]
    for each, at in zip(items, moments, strict=True):
        clock.set(at)
        await store.add([each])
    async with store.replaying(Which(ids=[items[3].id])):
        pass
    behind_2 = (moments[2], items[2].id)
    rows: list[tuple[Which, int, tuple[datetime, str] | None, list[int]]] = [
        (Which(), 9, None, [2, 1, 0]),
        (Which(), 2, None, [2, 1]),
        (Which(), 9, behind_2, [1, 0]),
        (Which(status=None), 9, None, [3, 2, 1, 0]),
        (Which(status=REPLAYED), 9, None, [3]),
        (Which(reason=tier), 9, None, [1]),
        (Which(status=None, reason=tier), 9, behind_2, [1]),
        (Which(status=None, since=moments[1], until=moments[3]), 9, None, [2, 1]),
        (Which(status=None, ids=[items[0].id, items[3].id]), 9, None, [3, 0]),
        (Which(ids=[items[0].id, items[3].id]), 9, behind_2, [0]),
    ]
    for which, limit, after, expected in rows:
        listed = await store.list(which, limit=limit, after=after)
        assert (which, [items.index(each.item) for each in listed]) == (which, expected)
    assert [each.item async for each in store.all(Which(status=None))] == items[::-1]
    assert await store.counts() == {Reason.INVALID: 2, tier: 1}
    assert await store.counts(Which(status=None)) == {Reason.INVALID: 2, tier: 2}
    assert await store.counts(Which(status=None, since=moments[2])) == {Reason.INVALID: 1, tier: 1}
    assert await store.counts(most=1) == {Reason.INVALID: 1, tier: 1}
