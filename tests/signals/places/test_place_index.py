"""The index of places: the nearest are those that a look at every one would tell, after whatever changes."""

import asyncio
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.platform.loop_turn import LoopTurn
from abacus.signals.places.decide.place import Place, Traits
from abacus.signals.places.decide.place_index import PlaceIndex, Sought
from abacus.signals.places.decide.point import Point, point
from abacus.signals.places.decide.sphere import EARTH_M, metres_between
from abacus.signals.places.place_search import nearest_in_turns

BRANDS = (None, "a", "b")
# Many are alike, some lie at poles, at the antimeridian, and beside each other.
DEGREES = st.sampled_from([0.0, 1e-9, 0.001, 0.002, 1.0, 45.0, 89.999, 90.0])
LATS = st.one_of(DEGREES, st.builds(lambda each: -each, DEGREES), st.floats(-90, 90))
LONS = st.one_of(st.sampled_from([-180.0, 180.0, 179.999, -179.999, 0.0, 103.8]), st.floats(-180, 180))
POINTS = st.builds(point, LATS, LONS)


def shop(number: int, at: Point, brand: str | None = None) -> Place:
    categories = ("food",) if number % 3 else ()
    return Place(f"shop-{number}", f"Shop {number}", at, "SG", f"m-{number % 2}", brand, categories)


def indexed(places: Sequence[Place]) -> PlaceIndex:
    index = PlaceIndex()
    for each in places:
        index.put(each)
    return index


def told(index: PlaceIndex, at: Point, k: int, radius_m: float, sought: Sought | None = None) -> list[str]:
    return [place.id for place, _ in index.nearest(at, k, radius_m, sought=sought or Sought())]


@given(st.lists(POINTS, max_size=120), POINTS, st.integers(1, 130), st.sampled_from([0.0, 150.0, 200_000.0, 3e7]))
def test_the_nearest_are_those_that_a_look_at_every_one_tells(
    points: list[Point], at: Point, k: int, radius_m: float
) -> None:
    places = [shop(number, each) for number, each in enumerate(points)]
    near = indexed(places).nearest(at, k, radius_m)
    ways = sorted(metres_between(at, each.point) for each in places)
    # Both ways of measuring agree to a millimetre, and to what floats can tell of a point on the other side.
    slack = [max(0.001, EARTH_M * 1e-7 if way > EARTH_M * 3.1 else 0.0) for way in ways]
    assert len(near) <= k
    for (place, metres), way, one in zip(near, ways, slack, strict=False):
        assert metres == pytest.approx(way, abs=one)
        assert metres == pytest.approx(metres_between(at, place.point), abs=one)
    inside = [way for way, one in zip(ways, slack, strict=True) if way < radius_m - one]
    assert len(near) >= min(k, len(inside))
    assert near == sorted(near, key=lambda each: (each[1], each[0].id))
    assert len({place.id for place, _ in near}) == len(near)


@given(st.lists(st.tuples(st.integers(0, 60), st.none() | POINTS, st.sampled_from(BRANDS)), max_size=300), POINTS)
def test_an_index_that_was_changed_is_that_of_the_places_that_are_left(
    changes: list[tuple[int, Point | None, str | None]], at: Point
) -> None:
    index, left = PlaceIndex(), dict[str, Place]()
    for number, to, brand in changes:
        id_ = f"shop-{number}"
        if to is None:
            index.remove(id_)
            left.pop(id_, None)
        else:
            left[id_] = shop(number, to, brand)
            index.put(left[id_])
    anew = indexed(list(left.values()))
    assert list(index) == [left[id_] for id_ in sorted(left)]
    assert len(index) == len(left)
    for sought in (Sought(), Sought(brand="a"), Sought(merchant="m-1", category="food"), Sought(category="rides")):
        assert index.nearest(at, 7, 3e7, sought=sought) == anew.nearest(at, 7, 3e7, sought=sought)
        whole = [place for place, _ in anew.nearest(at, 300, 3e7) if _has(place, sought)]
        assert [place for place, _ in index.nearest(at, 7, 3e7, sought=sought)] == whole[:7]


def _has(place: Place, sought: Sought) -> bool:
    merchant, brand, category = sought
    return (
        merchant in {None, place.merchant}
        and brand in {None, place.brand}
        and (category is None or category in place.categories)
    )


def test_places_as_far_as_each_other_come_by_their_ids() -> None:
    here, there = point(1.3, 103.8), point(1.3, 103.9)
    index = indexed([shop(number, here if number % 2 else there) for number in range(100)])
    assert told(index, here, 3, 1_000) == ["shop-1", "shop-11", "shop-13"]
    assert told(index, here, 60, 20_000)[49:52] == ["shop-99", "shop-0", "shop-10"]


@pytest.mark.parametrize(
    ("at", "beside"),
    [
        (point(-17.0, 179.999), point(-17.0, -179.999)),
        (point(-17.0, 180.0), point(-17.0, -179.998)),
        (point(89.9999, 10.0), point(89.9999, -170.0)),
        (point(-90.0, 0.0), point(-89.999, 123.0)),
    ],
)
def test_neighbours_across_the_antimeridian_and_a_pole_are_near(at: Point, beside: Point) -> None:
    index = indexed([shop(1, beside), shop(2, point(0.0, 0.0))])
    ((place, metres),) = index.nearest(at, 5, 1_000)
    assert place.id == "shop-1"
    assert metres == pytest.approx(metres_between(at, beside), abs=0.001)


def test_a_radius_has_its_border_inside() -> None:
    here, there = point(0.0, 0.0), point(0.0, 1.0)
    ((_, metres),) = indexed([shop(1, there)]).nearest(here, 1, 200_000)
    assert metres == pytest.approx(math.radians(1) * EARTH_M)
    assert told(indexed([shop(1, there)]), here, 1, metres) == ["shop-1"]
    assert told(indexed([shop(1, there)]), here, 1, math.nextafter(metres, 0)) == []


def test_what_is_kept_is_looked_for_until_there_is_enough() -> None:
    rng = random.Random(5)
    places = [shop(number, point(rng.uniform(1.2, 1.5), rng.uniform(103.6, 104.0))) for number in range(5_000)]
    index, at = indexed(places), point(1.35, 103.8)
    by_way = sorted(places, key=lambda each: metres_between(at, each.point))
    judged: list[Traits] = []

    def keep(traits: Traits) -> bool:
        judged.append(traits)
        return traits.merchant == "m-1" and not traits.categories

    few = [each.id for each in by_way if each.merchant == "m-1" and not each.categories]
    assert [place.id for place, _ in index.nearest(at, 1_000, 50_000, keep)] == few
    assert len(judged) == len(set(judged)) == 4, "places that are alike are judged once"
    most = [each.id for each in by_way if each.merchant == "m-1"]
    assert told(index, at, 20, 50_000, Sought(merchant="m-1")) == most[:20]


@pytest.mark.parametrize("changes", [False, True])
async def test_others_go_on_while_few_are_looked_for_and_may_change_places(*, changes: bool) -> None:
    rng = random.Random(5)
    points = [point(rng.uniform(1.2, 1.5), rng.uniform(103.6, 104.0)) for _ in range(2_000)]
    index, at = indexed([shop(number, each) for number, each in enumerate(points)]), point(1.35, 103.8)
    index.put(last := shop(9_999, point(1.2, 103.6), "b"))
    turns, over = 0, asyncio.Event()

    async def go_on() -> None:
        nonlocal turns
        while not over.is_set():
            turns += 1
            if changes and turns == 5:
                index.remove(last.id)
                index.put(shop(9_998, at, "b"))  # which takes the number of the other
            await asyncio.sleep(0)

    others = asyncio.create_task(go_on())
    near = await nearest_in_turns(index, at, 5, 50_000, lambda each: each.brand == "b", turn=LoopTurn(longest_s=-1))
    over.set()
    await others
    told = [(index.at(number), metres) for number, metres in near]
    assert [place and place.id for place, _ in told] == ["shop-9998" if changes else "shop-9999"]
    assert told == index.nearest(at, 5, 50_000, lambda each: each.brand == "b")
    assert turns >= 5


def test_a_place_is_found_by_its_id_as_it_was_put() -> None:
    one = Place("s", "S", (103.8, 1.3), "SG", "m", "b", ("food",), "24/7", "Asia/Singapore", (("floor", "2"),))
    index = indexed([one, shop(1, (103.8, 1.3))])
    assert index.of("s") == one
    index.put(one._replace(name="Other"))
    assert index.of("s") == one._replace(name="Other")
    index.remove("s")
    index.remove("s")
    assert (index.of("s"), len(index)) == (None, 1)
    assert isinstance(index.of("shop-1"), Place)


def test_what_is_kept_beside_a_place_is_gone_when_the_place_changes() -> None:
    index = indexed([shop(1, (103.8, 1.3)), shop(2, (103.8, 1.3))])
    first, second = index.number_of("shop-1"), index.number_of("shop-2")
    assert first is not None
    assert second is not None
    for number in (first, second):
        index.beside[number] = "kept"
    assert index.put(shop(1, (103.9, 1.3))) == first
    assert index.beside == [None, "kept"]
    assert index.remove("shop-2") == second
    assert (index.beside, index.at(second), index.remove("shop-2")) == ([None, None], None, None)
