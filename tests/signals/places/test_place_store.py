"""Places in Postgres: what a load writes, what a reader is told, and what the log has."""

import asyncio
from collections.abc import Sequence

import pytest

from abacus.core.errors import Absent, Refused
from abacus.people.store.audit import log
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Grant, Role
from abacus.platform.postgres import Pool
from abacus.signals.places.decide.place import Place
from abacus.signals.places.decide.point import point
from abacus.signals.places.decide.sphere import metres_between
from abacus.signals.places.place_desk import Loaded, PlaceDesk
from abacus.signals.places.place_directory import PlaceDirectory
from abacus.signals.places.place_store import PlaceStore
from tests.signals.segments.sets_of_members import NOW
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once

EDDY = Actor("person:eddy", (Grant(Role.COUNTRY_EDITOR, "SG"),))
ANN = Actor("person:ann", (Grant(Role.COUNTRY_EDITOR),))
HERE = point(1.3, 103.8)


def shop(number: int, name: str = "Shop", country: str = "SG") -> Place:
    at = point(1.3 + number / 10_000, 103.8)
    return Place(f"s-{number:03}", name, at, country, "m", None, ("food", "pizza"), "24/7", None, (("floor", "2"),))


@pytest.fixture
def desk(pool: Pool) -> PlaceDesk:
    return PlaceDesk(pool, FixedClock(NOW))


async def load(desk: PlaceDesk, *pages: Sequence[Place], by: Actor = ANN, replace: bool = False) -> Loaded:
    countries = [each.country for page in pages for each in page]
    return await desk.load(
        pages, {each: countries.count(each) for each in dict.fromkeys(countries)}, by, file="f.csv", replace=replace
    )


async def there(directory: PlaceDirectory) -> dict[str, str]:
    await directory.refresh()
    return {each.id: each.name for each in directory.value()}


async def test_a_load_says_what_it_changed_and_since_which_version_it_is_there(desk: PlaceDesk, pool: Pool) -> None:
    assert await load(desk, [shop(1), shop(2)], [shop(3)]) == Loaded(3, 0, 0, 0, 2)
    assert await load(desk, [shop(1), shop(2)], [shop(3)]) == Loaded(0, 0, 3, 0, 2)
    assert await load(desk, [shop(1), shop(2, "Other")], [shop(4)]) == Loaded(1, 1, 1, 0, 4)
    found = await desk.find("s-002")
    assert found == (shop(2, "Other"), 3, NOW)
    entries = await log(pool, deed=Deed.EDIT_PLACES)
    assert [(each.subject, each.country) for each in entries] == [("places:SG", "SG")] * 2


async def test_what_a_file_no_longer_has_is_removed_with_replace(desk: PlaceDesk, pool: Pool) -> None:
    await load(desk, [shop(1), shop(2), shop(9, country="ID")])
    assert await load(desk, [shop(2), shop(3)], replace=True) == Loaded(1, 0, 1, 1, 3)
    with pytest.raises(Absent, match="s-001"):
        await desk.find("s-001")
    assert await there(PlaceDirectory(pool)) == {"s-002": "Shop", "s-003": "Shop", "s-009": "Shop"}
    assert await load(desk, [shop(1), shop(2), shop(3)]) == Loaded(1, 0, 2, 0, 4)  # it is there again
    with pytest.raises(Refused, match="there is no place"):
        await desk.load([], {}, ANN, replace=True)


async def test_an_id_is_of_one_place_in_all_countries(desk: PlaceDesk) -> None:
    await load(desk, [shop(1, country="ID")])
    with pytest.raises(Refused, match="s-001 is a place of ID"):
        await load(desk, [shop(1), shop(2)])
    await desk.remove("s-001", ANN)
    assert (await load(desk, [shop(1)])).new == 1


@pytest.mark.parametrize("country", ["ID", "SG"])
async def test_who_may_not_edit_places_there_changes_nothing(desk: PlaceDesk, pool: Pool, country: str) -> None:
    refused = country != "SG"
    if refused:
        with pytest.raises(Refused, match="may not edit places in ID"):
            await load(desk, [shop(1, country=country)], by=EDDY)
    else:
        await load(desk, [shop(1, country=country)], by=EDDY)
    assert await pool.fetchval("select count(*) from place") == (0 if refused else 1)


async def test_a_reader_has_every_change_up_to_the_version_that_it_asks_for(desk: PlaceDesk, pool: Pool) -> None:
    await load(desk, [shop(number) for number in range(250)])
    directory, told = PlaceDirectory(pool), list[int]()
    await directory.refresh()
    directory.on_change(told.extend)
    assert len(directory.value()) == 250
    assert directory.value().version == 1

    changed = await load(desk, [shop(7, "Seven")])
    index = await directory.at_version(changed.version)
    (number,) = told
    assert (index.of("s-007"), index.at(number)) == (shop(7, "Seven"), shop(7, "Seven"))
    version = await desk.remove("s-007", ANN)
    assert (await directory.at_version(version)).of("s-007") is None
    assert (told, index.at(number)) == ([number, number], None)
    loaded = await load(desk, [shop(number, "New") for number in range(250)])
    index = await directory.at_version(loaded.version)
    assert {each.name for each in index} == {"New"}
    assert len(told) == 2 + 250
    (near, *_) = index.nearest(HERE, 3, 1_000)
    assert near == (shop(0, "New"), 0.0)


async def test_loads_at_once_lose_no_version_to_a_reader(desk: PlaceDesk, pool: Pool) -> None:
    directory = PlaceDirectory(pool)
    await directory.refresh()
    async with asyncio.TaskGroup() as group:
        loads = [group.create_task(load(desk, [shop(n) for n in range(first, 60, 6)])) for first in range(6)]
        while not all(each.done() for each in loads):
            await directory.refresh()
    await directory.refresh()
    assert len(directory.value()) == 60
    assert sorted(each.result().version for each in loads) == [1, 2, 3, 4, 5, 6]


async def test_places_around_a_point_are_read_by_their_latitude(desk: PlaceDesk, pool: Pool) -> None:
    await load(desk, [shop(number) for number in range(100)])
    index = await desk.around(HERE, 100)
    assert [place.id for place, _ in index.nearest(HERE, 50, 100)] == [f"s-{number:03}" for number in range(9)]
    assert len(index) < 20
    assert await PlaceStore(pool).version() == 1


async def test_the_nearest_places_are_looked_for_farther_and_farther(desk: PlaceDesk) -> None:
    at = [point(1.3, 103.8 + metres / 111_165) for metres in (400, 450, 4_000, 40_000, 60_000)]
    await load(desk, [shop(number)._replace(point=each) for number, each in enumerate(at)])
    for k, farthest in ((1, 400), (2, 450), (3, 4_000), (5, 40_000)):
        near = await desk.nearest(HERE, k, "SG")
        assert [place.id for place, _ in near] == [f"s-{number:03}" for number in range(min(k, 4))]
        assert near[-1][1] == pytest.approx(farthest, rel=0.01)
    assert await desk.nearest(HERE, 1, "ID") == []


async def test_of_many_places_the_nearest_are_read_across_the_antimeridian_too(desk: PlaceDesk) -> None:
    there = [point(60.0, (179.999 + number / 100_000) % 360 - 360 * (number >= 100)) for number in range(1_200)]
    await load(desk, [shop(number)._replace(point=each) for number, each in enumerate(there)])
    near = await desk.nearest(there[600], 9, "SG")
    assert {place.id for place, _ in near} == {f"s-{number:03}" for number in range(596, 605)}


async def test_a_place_is_found_by_its_id_or_by_a_part_of_its_name(desk: PlaceDesk) -> None:
    await load(desk, [shop(1, "Noodle Bar"), shop(2, "The noodle house"), shop(3, "S-001")])

    async def found(text: str, country: str = "SG", most: int = 9) -> list[str]:
        return [each.id for each in await desk.named(country, text, most)]

    assert await found("s-001") == ["s-001"]  # and not the one of this name
    assert await found("NOODLE") == ["s-001", "s-002"]
    assert await found("noodle", most=1) == ["s-001"]
    assert (await found("50 %"), await found("noodle", "ID")) == ([], [])


async def test_of_places_around_a_point_none_is_read_from_far_along_its_latitude(desk: PlaceDesk) -> None:
    lons = [179.9, -179.9, 179.0, -178.0, 103.8, 0.0]
    for lat in (0.0, 60.0, 89.9):
        at = [point(lat, lon) for lon in lons]
        there = [shop(number)._replace(point=each) for number, each in enumerate(at)]
        await load(desk, [*there, shop(9, country="ID")._replace(point=at[0])])
        for here in (point(lat, 180.0), point(lat, -179.95)):
            index = await desk.around(here, 50_000, "SG")
            near = [f"s-{number:03}" for number, each in enumerate(at) if metres_between(here, each) <= 50_000]
            assert [each.id for each in index] == near
        assert {"s-000", "s-009"} <= {each.id for each in await desk.around(at[0], 1_000)}
