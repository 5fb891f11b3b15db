"""What every store of counters does."""

import asyncio
import itertools

from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import Count, Grain, RowKey, SlotRange
from tests.signals.counters.store.rows import DAY_S, NOW, around, quarter, row
from tests.support.fixed_clock import FixedClock

NOON = quarter(0)
MIDNIGHT = int(NOW.timestamp()) // DAY_S * DAY_S


async def test_a_row_is_loaded_as_it_was_saved(store: CounterStore) -> None:
    saved = row("34.1:rain:7", NOON, 65_537, 12, 99)
    await store.save([saved])
    missing = RowKey("34.1:rain:8", NOON, 65_537)
    assert await store.load([missing, saved.key]) == {saved.key: Count(12, 99)}


async def test_nothing_is_nothing(store: CounterStore) -> None:
    await store.save([])
    assert await store.load([]) == {}
    assert list(await store.sums([])) == []
    assert list(await store.sums([around("a", NOON)])) == [0]


async def test_only_what_counted_further_replaces_a_row(store: CounterStore) -> None:
    key = row("a", NOON, 1, 5, 100).key
    await store.save([row("a", NOON, 1, 5, 100)])
    await store.save([row("a", NOON, 1, 3, 60)])  # by a writer that was thought dead
    assert await store.load([key]) == {key: Count(5, 100)}
    await store.save([row("a", NOON, 1, 4, 101)])  # a count may fall: amounts can be negative
    assert await store.load([key]) == {key: Count(4, 101)}


async def test_a_row_twice_in_one_save(store: CounterStore) -> None:
    rows = [row("a", NOON, 1, 2, 20), row("a", NOON, 1, 3, 30), row("a", NOON, 1, 1, 10)]
    await store.save(rows)
    assert await store.load([rows[0].key]) == {rows[0].key: Count(3, 30)}


async def test_sums_go_over_writers_and_over_the_slots_of_the_range(store: CounterStore) -> None:
    await store.save(
        [
            row("a", quarter(0), 1, 1, 0),
            row("a", quarter(0), 2, 10, 0),
            row("a", quarter(1), 1, 100, 7),
            row("a", quarter(2), 1, 1_000, 8),
            row("a", slot_of(Grain.HOUR, 1_781_092_800), 1, 10_000, 8),
            row("ab", quarter(0), 1, 100_000, 9),
        ]
    )
    ranges = [
        SlotRange("a", quarter(0), quarter(2)),
        SlotRange("a", quarter(1), quarter(3)),
        SlotRange("b", quarter(0), quarter(2)),
        SlotRange("a", quarter(0), quarter(0)),
        SlotRange("a", quarter(0), quarter(2)),
        SlotRange("ab", quarter(-5), quarter(9)),
    ]
    assert list(await store.sums(ranges)) == [111, 1_100, 0, 0, 111, 100_000]


async def test_all_grains_old_and_new(store: CounterStore) -> None:
    rows = [
        row("a", slot_of(grain, MIDNIGHT - back * DAY_S), 1, 1, 5, keep_s=900 * DAY_S)
        for grain in Grain
        for back in (0, 1, 13, 400, 800)
    ]
    await store.save(rows)
    assert await store.load([each.key for each in rows]) == {each.key: each.count for each in rows}
    counted = [grain for grain in Grain if grain is not Grain.REPEATS]
    everything = [
        SlotRange("a", slot_of(grain, MIDNIGHT - 800 * DAY_S), slot_of(grain, MIDNIGHT + DAY_S)) for grain in counted
    ]
    assert list(await store.sums(everything)) == [5] * len(counted)


async def test_whether_a_range_has_a_row_of_any_writer(store: CounterStore) -> None:
    """Also where the counts come to nothing."""
    await store.save([row("a", quarter(1), 3, 0, 7), row("k", slot_of(Grain.KEYS, MIDNIGHT), 1, 1, 5)])
    ranges = [
        SlotRange("a", quarter(0), quarter(1)),
        SlotRange("a", quarter(0), quarter(2)),
        SlotRange("a", 0, (1 << 31) - 1),
        SlotRange("b", 0, (1 << 31) - 1),
        SlotRange("k", slot_of(Grain.KEYS, MIDNIGHT), slot_of(Grain.KEYS, MIDNIGHT) + 1),
        SlotRange("a", quarter(0), quarter(2)),
    ]
    assert list(await store.there(ranges)) == [False, True, True, False, True, True]
    assert list(await store.there([])) == []


async def test_rows_that_remember_events_are_loaded_as_they_were_saved(store: CounterStore) -> None:
    """Those of several writers and windows, in more than one request."""
    slots = [slot_of(Grain.REPEATS, MIDNIGHT + window * DAY_S) for window in (0, 1)]
    places = itertools.product(range(700), slots, (1, 65_537, 2**47 + 3))
    rows = [row(f"{number:024x}", slot, writer, 1, upto) for upto, (number, slot, writer) in enumerate(places)]
    await store.save(rows)
    asked = [each.key for each in rows]
    never = [RowKey(f"{number:024x}", asked[0].slot, 1) for number in range(700, 1400)]
    assert await store.load([*never, *asked]) == {each.key: each.count for each in rows}
    assert await store.load(asked[::-70]) == {each.key: each.count for each in rows[::-70]}


async def test_of_a_row_that_remembers_an_event_what_counted_further_remains(store: CounterStore) -> None:
    slot = slot_of(Grain.REPEATS, MIDNIGHT)
    keys = [f"{number:024x}" for number in range(300)]
    await store.save([row(key, slot, 1, 1, 10) for key in keys])
    await store.save([row(key, slot, 2, 1, 3) for key in keys])  # another writer's are rows of their own
    await store.save([row(key, slot, 1, 1, 5) for key in keys])  # by a writer that was thought dead
    await store.save([row(key, slot, 2, 1, 4) for key in keys])
    found = await store.load([RowKey(key, slot, writer) for key in keys for writer in (1, 2)])
    assert found == {RowKey(key, slot, writer): Count(1, upto) for key in keys for writer, upto in ((1, 10), (2, 4))}


async def test_any_text_is_a_key(store: CounterStore) -> None:
    keys = ["é", "%25:%3A", "'\"\\", "a\x1fb", "城市", "\U0001f600", "x" * 600, "a", "A", "{}", "NULL"]
    rows = [row(key, NOON, 1, number, number) for number, key in enumerate(keys, 1)]
    await store.save(rows)
    assert await store.load([each.key for each in rows]) == {each.key: each.count for each in rows}
    assert list(await store.sums([around(key, NOON) for key in keys])) == list(range(1, len(keys) + 1))


async def test_large_and_small_numbers(store: CounterStore) -> None:
    rows = [
        row("first", NOON, 0, 0, 0),
        row("large", NOON, 2**47 + 3, 2**62, 2**53),
        row("below", NOON, 1, -(2**62), 1),
    ]
    await store.save(rows)
    assert await store.load([each.key for each in rows]) == {each.key: each.count for each in rows}
    assert list(await store.sums([around(each.key.key, NOON) for each in rows])) == [0, 2**62, -(2**62)]


async def test_more_rows_than_a_statement_takes(store: CounterStore) -> None:
    rows = [row(f"k{number % 500}", quarter(-(number // 500)), 1, number, number) for number in range(12_000)]
    await store.save(rows)
    found = await store.load([each.key for each in rows])
    assert found == {each.key: each.count for each in rows}
    sums = await store.sums([SlotRange(f"k{number}", quarter(-30), quarter(1)) for number in range(500)])
    assert list(sums) == [sum(range(number, 12_000, 500)) for number in range(500)]


async def test_many_who_save_the_same_rows_at_once(store: CounterStore) -> None:
    """A writer and zombies of it, each with its own order of the rows: the furthest remains."""
    keys = [f"k{number}" for number in range(300)]
    saves = [
        store.save([row(key, NOON, 1, upto, upto) for key in (keys if upto % 2 else reversed(keys))])
        for upto in range(1, 13)
    ]
    await asyncio.gather(*saves)
    assert list(await store.sums([around(key, NOON) for key in keys])) == [12] * 300


async def test_what_may_be_forgotten_already_is_not_saved(store: CounterStore, clock: FixedClock) -> None:
    late = row("late", NOON, 1, 1, 1, keep_s=0)
    await store.save([late, row("a", NOON, 1, 1, 1)])
    assert await store.load([late.key]) == {}


async def test_slots_of_ranges_go_over_writers_and_leave_gaps_out(store: CounterStore) -> None:
    noon = 1_781_092_800
    minutes = [slot_of(Grain.MINUTE, noon + 60 * number) for number in range(4)]
    await store.save(
        [
            row("a", minutes[0], 1, 1, 0),
            row("a", minutes[0], 2, 10, 0),
            row("a", minutes[2], 1, 100, 7),
            row("a", minutes[3], 1, 1_000, 8),
            row("a", quarter(0), 1, 10_000, 8),
            row("ab", minutes[0], 1, 100_000, 9),
        ]
    )
    ranges = [
        SlotRange("a", minutes[0], minutes[3]),
        SlotRange("b", minutes[0], minutes[3]),
        SlotRange("a", quarter(0), quarter(9)),
        SlotRange("a", minutes[0], minutes[3]),
    ]
    first = {minutes[0]: 11, minutes[2]: 100}
    assert [dict(each) for each in await store.slots(ranges)] == [first, {}, {quarter(0): 10_000}, first]
    assert list(await store.slots([])) == []


async def test_keys_are_listed_in_order_from_any_of_them_on(store: CounterStore) -> None:
    """A key is remembered in several windows and by several writers, and listed once."""
    windows = [slot_of(Grain.KEYS, MIDNIGHT - back * DAY_S) for back in (0, 30)]
    keys = ["1.1:rain:", *(f"1.1:rain:{number}" for number in range(40)), "1.1:rain:é", "1.1:rain:城"]
    others = ["1.10:snow:1", "1.2:rain:1", "11.1:x", "2.1:rain:1"]
    await store.save([row(key, slot, writer, 1, 5) for key in keys + others for slot in windows for writer in (1, 2)])
    await store.save([row("1.1:never:admitted", NOON, 1, 1, 5)])
    listed = sorted(keys)
    assert list(await store.keys("1.1:", "", 100)) == listed
    assert list(await store.keys("1.1:", "", 3)) == listed[:3]
    assert list(await store.keys("1.1:", listed[2], 10)) == listed[3:13]
    assert list(await store.keys("1.1:", listed[-1], 10)) == []
    assert list(await store.keys("3.1:", "", 10)) == []


async def test_the_top_of_a_range_adds_up_what_lies_in_its_slots(store: CounterStore) -> None:
    hour = slot_of(Grain.HOUR, 1_781_092_800 - 3600)
    sums = {"b": 7, "c": 30, "a": 7, "d": -4, "e": 0}
    for key, units in sums.items():
        await store.save(
            [
                row(f"1.1:{key}", slot_of(Grain.KEYS, MIDNIGHT), 1, 1, 0),
                row(f"1.1:{key}", hour, 1, units - 5, 1),
                row(f"1.1:{key}", quarter(1), 2, 5, 1),
                row(f"1.1:{key}", quarter(2), 2, 900, 1),
            ]
        )
    await store.save([row("1.2:a", slot_of(Grain.KEYS, MIDNIGHT), 1, 1, 0), row("1.2:a", hour, 1, 1_000, 1)])
    slots = [(hour, hour + 4), (quarter(0), quarter(2))]
    largest = [("1.1:c", 30), ("1.1:a", 7), ("1.1:b", 7), ("1.1:d", -4)]
    assert list(await store.top("1.1:", slots, 10)) == largest
    assert list(await store.top("1.1:", slots, 2)) == largest[:2]
    assert list(await store.top("7.1:", slots, 2)) == []
