"""Answers are fresh, then stale while they are refreshed, then gone. A change is seen at once; no store holds up."""

from itertools import pairwise
from math import inf

import pytest
from prometheus_client import Gauge

from abacus.core.errors import Absent, Unavailable
from abacus.platform.metrics import CACHE_BYTES, CACHE_ENTRIES
from abacus.platform.reading.answer_cache import AnswerCache
from abacus.platform.reading.decide.shelf import OF_A_TAG, OVERHEAD
from tests.platform.reading.answering import LIVES, NOON, ROUTE, Dish, Scene, asking, away


async def test_an_answer_is_fresh_then_stale_while_it_is_refreshed() -> None:
    scene = Scene()
    assert await scene.ask("pho") == (1, 0)
    scene.edition = 2  # and nobody tells the cache
    scene.passes(9.5)
    assert await scene.ask("pho") == (1, 9.5)
    scene.flows.clear()
    scene.passes(1)
    for _ in range(3):  # all of them are answered at once, and one refreshes
        assert await scene.ask("pho") == (1, 10.5)
    await scene.begun_times("pho", 2)
    scene.flows.set()
    await scene.rests()
    assert await scene.ask("pho") == (2, 0)
    assert scene.begun["pho"] == 2


async def test_of_many_keys_the_fresh_answers_are_told_at_once() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.passes(4)
    await scene.ask("rice")
    pho, rice = Dish("pho", 1), Dish("rice", 1)
    assert scene.cache.fresh(["rice", "soup", "pho"]) == ([rice, None, pho], 4)
    scene.passes(7)  # the first is stale: it is for `get` to refresh it
    assert scene.cache.fresh(["pho", "rice"]) == ([None, rice], 7)
    assert scene.cache.fresh([]) == ([], 0)
    scene.change("rice")
    assert scene.cache.fresh(["rice"]) == ([None], 0)


async def test_an_answer_that_nobody_asked_for_in_its_time_is_computed_anew() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.edition = 2
    scene.passes(30)
    assert await scene.ask("pho") == (2, 0)


async def test_many_who_ask_at_once_are_told_by_one_computation() -> None:
    scene = Scene()
    scene.flows.clear()
    tasks = [asking(scene, "pho") for _ in range(50)]
    await scene.begun_times("pho", 1)
    tasks[0].cancel()  # the one whose computation it is
    tasks[1].cancel()
    await scene.begun_times("pho", 2)  # another does it
    scene.flows.set()
    assert {await each for each in tasks[2:]} == {(1, 0)}
    assert scene.begun["pho"] == 2


async def test_what_was_begun_before_a_change_is_told_to_earlier_callers_and_not_kept() -> None:
    scene = Scene()
    scene.flows.clear()
    before = asking(scene, "pho")
    await scene.begun_times("pho", 1)
    scene.change("pho")
    after = asking(scene, "pho")
    scene.flows.set()
    assert (await before)[0] == 1
    assert (await after)[0] == 2
    assert await scene.ask("pho") == (2, 0)
    assert scene.begun["pho"] == 2


async def test_a_refresh_that_was_begun_before_a_change_is_not_kept() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.passes(11)
    scene.flows.clear()
    assert (await scene.ask("pho"))[0] == 1
    await scene.begun_times("pho", 2)
    scene.change("pho")
    scene.flows.set()
    await scene.rests()
    assert len(scene.cache) == 0
    assert await scene.ask("pho") == (2, 0)


async def test_a_change_drops_what_it_touches_and_nothing_else() -> None:
    scene = Scene()
    for key in ("pho", "laksa", "pho+laksa", "satay"):
        await scene.ask(key)
    scene.flows.clear()
    under_way = asking(scene, "satay+rice")
    await scene.begun_times("satay+rice", 1)
    scene.change("laksa")
    scene.flows.set()
    await under_way
    editions = {key: (await scene.ask(key))[0] for key in ("pho", "laksa", "pho+laksa", "satay", "satay+rice")}
    assert editions == {"pho": 1, "laksa": 2, "pho+laksa": 2, "satay": 1, "satay+rice": 1}
    assert scene.begun["satay+rice"] == 1


async def test_a_change_of_everything_drops_everything() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.flows.clear()
    under_way = asking(scene, "laksa")
    await scene.begun_times("laksa", 1)
    scene.edition = 2
    scene.cache.drop_all()
    scene.flows.set()
    await under_way
    assert [(await scene.ask(key))[0] for key in ("pho", "laksa")] == [2, 2]


async def test_an_error_refreshes_nothing_and_the_age_is_told_up_to_a_bound() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.fails = away()
    ages = []
    for _ in range(9):
        scene.passes(11)
        ages.append((await scene.ask("pho"))[1])
        await scene.rests()
    assert ages == [11 * each for each in range(1, 10)]
    scene.passes(1)  # fresh for 10 s, stale for 20 s, and for 70 s while the store is away
    with pytest.raises(Unavailable):
        await scene.ask("pho")
    scene.fails = None
    scene.passes(1)
    assert await scene.ask("pho") == (1, 0)


async def test_a_store_that_stalls_is_not_waited_for_and_then_not_asked() -> None:
    scene = Scene(ROUTE._replace(within_s=0.02))
    await scene.ask("pho")
    scene.flows.clear()
    scene.passes(31)
    for _ in range(20):
        assert await scene.ask("pho") == (1, 31)
    assert scene.begun["pho"] == 4  # the first, and three until the breaker opens
    with pytest.raises(Unavailable):
        await scene.ask("laksa")
    assert scene.begun["laksa"] == 0


async def test_what_is_refused_at_a_refresh_is_gone() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.fails = Absent("no such dish")
    scene.passes(11)
    assert (await scene.ask("pho"))[0] == 1
    await scene.rests()
    with pytest.raises(Absent):
        await scene.ask("pho")


async def test_a_refresh_with_a_mistake_keeps_the_answer() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.fails = ZeroDivisionError()
    scene.passes(11)
    await scene.ask("pho")
    await scene.rests()
    assert (await scene.ask("pho"))[0] == 1


async def test_the_clock_alone_makes_an_answer_wrong() -> None:
    """From that moment on it is not stale but gone, also while the store is away."""
    ends = NOON.timestamp() + 7
    scene = Scene(ROUTE._replace(until_of=lambda _: ends))
    assert await scene.ask("pho") == (1, 0)
    scene.edition = 2
    scene.passes(6)
    assert await scene.ask("pho") == (1, 6)
    scene.passes(1)
    scene.fails = away()
    with pytest.raises(Unavailable):
        await scene.ask("pho")
    scene.fails = None
    assert await scene.ask("pho") == (2, 0)
    scene.edition = 3
    assert await scene.ask("pho") == (3, 0), "its end is over before it was computed"


async def test_who_asks_once_the_clock_has_made_it_wrong_joins_no_earlier_computation() -> None:
    ends = NOON.timestamp() + 7
    scene = Scene(ROUTE._replace(until_of=lambda dish: ends if dish.edition == 1 else inf))
    scene.flows.clear()
    before = asking(scene, "pho")
    await scene.begun_times("pho", 1)
    scene.edition = 2  # as of the moment at which the first one ends
    scene.passes(7)
    after = asking(scene, "pho")
    scene.flows.set()
    assert [(await before)[0], (await after)[0]] == [1, 2]


async def test_answers_that_were_computed_together_are_not_refreshed_together() -> None:
    scene = Scene(ROUTE._replace(lifetimes=LIVES._replace(jitter=0.5)))
    keys = [f"dish{each}" for each in range(100)]
    for key in keys:
        await scene.ask(key)
    due = []
    for _ in range(11):
        due.append(sum(scene.begun.values()))
        scene.passes(1)
        for key in keys:
            await scene.ask(key)
        await scene.rests()
    assert due[:5] == [100] * 5  # fresh for 5 to 10 s
    assert all(later - earlier < 40 for earlier, later in pairwise(due))
    assert due[-1] >= 200


async def test_a_share_of_the_keys_is_kept_and_the_switch_drops_all() -> None:
    scene = Scene()
    keys = [f"dish{each}" for each in range(200)]
    scene.cache.limit(35)
    for key in keys:
        await scene.ask(key)
    assert 40 < (some := len(scene.cache)) < 100
    scene.edition = 2
    again = [(await scene.ask(key))[0] for key in keys]
    assert (again.count(1), len(scene.cache)) == (some, some)
    scene.cache.limit(0)
    assert len(scene.cache) == 0
    assert (await scene.ask("pho"), await scene.ask("pho")) == ((2, 0), (2, 0))
    assert scene.begun["pho"] == 2


async def test_it_has_a_bound_in_bytes() -> None:
    room = 10 * (OVERHEAD + OF_A_TAG + 5)
    scene = Scene(ROUTE._replace(name="bounded", most_bytes=room))
    for number in range(40):
        await scene.ask("often")
        await scene.ask(f"n{number:04}")
    assert len(scene.cache) == 10
    assert scene.begun["often"] == 1  # what nobody asked for again went first
    assert (shown(CACHE_ENTRIES), shown(CACHE_BYTES)) == (10, room)
    await scene.cache.close()
    assert (shown(CACHE_ENTRIES), shown(CACHE_BYTES)) == (0, 0)


def shown(gauge: Gauge) -> float:
    return next(
        each.value for metric in gauge.collect() for each in metric.samples if each.labels["route"] == "bounded"
    )


async def test_answers_are_shared_only_of_sources_with_versions() -> None:
    scene = Scene()
    with pytest.raises(ValueError, match="dishes: other processes cannot tell"):
        AnswerCache(ROUTE, scene.cook, clock=scene.clock)


async def test_a_closed_cache_has_nothing_under_way() -> None:
    scene = Scene()
    await scene.ask("pho")
    scene.passes(11)
    scene.flows.clear()
    await scene.ask("pho")
    await scene.begun_times("pho", 2)
    await scene.cache.close()
    assert scene.cache.refreshing == 0
