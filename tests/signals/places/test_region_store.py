"""Editions of regions: kept, put in force, and read by each process when they change."""

from collections.abc import Sequence

import pytest

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool, nothing_else
from abacus.signals.places.decide.index_bytes import FORMAT
from abacus.signals.places.decide.region import Region, Ring
from abacus.signals.places.region_desk import RegionDesk
from abacus.signals.places.region_directory import RegionDirectory
from abacus.signals.places.region_store import KEPT, Loading, RegionStore, Waiting
from tests.support.editions import edition_of

pytestmark = pytest.mark.once


def square(west: float, south: float) -> Ring:
    return ((west, south), (west + 1, south), (west + 1, south + 1), (west, south + 1), (west, south))


def region(id_: str, west: float, south: float, country: str = "SG") -> Region:
    return Region(id_, id_, "zone", 0, country, ((square(west, south),),))


async def load(pool: Pool, regions: Sequence[Region], *, waits: bool = False) -> int:
    edition = edition_of(regions[0].country, regions)
    return await RegionStore(pool).load(edition, Loading("person:ann", SystemClock().now(), waits), nothing_else)


async def enter(pool: Pool, number: int, *, compared_with: int) -> None:
    waiting = Waiting("SG", number, compared_with)
    await RegionStore(pool).enter(waiting, "person:eve", SystemClock().now(), nothing_else)


async def test_a_process_serves_what_is_in_force(pool: Pool) -> None:
    directory = RegionDirectory(pool)
    await directory.refresh()
    assert directory.value().at((0.5, 0.5)) == ()

    await load(pool, [region("a", 0.0, 0.0)])
    await load(pool, [region("b", 0.0, 0.0, "ID")])
    await directory.refresh()
    first = directory.value()
    assert [each.id for each in first.at((0.5, 0.5))] == ["a", "b"]
    await directory.refresh()
    assert directory.value() is first

    number = await load(pool, [region("a", 1.0, 0.0)], waits=True)
    await directory.refresh()
    assert directory.value() is first
    await enter(pool, number, compared_with=1)
    await directory.refresh()
    second = directory.value()
    assert [each.id for each in second.at((0.5, 0.5))] == ["b"]
    assert [each.id for each in second.at((1.5, 0.5))] == ["a"]
    assert second.edition != first.edition


async def test_an_index_of_an_older_format_is_built_anew_and_kept(pool: Pool) -> None:
    number = await load(pool, [region("a", 0.0, 0.0)])
    written = await RegionStore(pool).index("SG", number)
    await pool.execute("delete from region_index")
    await pool.execute("insert into region_index values ('SG', $1, $2, 'old')", number, FORMAT - 1)
    directory = RegionDirectory(pool)
    await directory.refresh()
    assert [each.id for each in directory.value().at((0.5, 0.5))] == ["a"]
    assert await RegionStore(pool).index("SG", number) == written


async def test_an_index_of_a_newer_format_stays(pool: Pool) -> None:
    number = await load(pool, [region("a", 0.0, 0.0)])
    await pool.execute("delete from region_index")
    await pool.execute("insert into region_index values ('SG', $1, $2, 'new')", number, FORMAT + 1)
    await RegionStore(pool).keep_index("SG", number, b"ours")
    assert await pool.fetchval("select index from region_index") == b"new"


async def test_who_looks_at_regions_sees_the_edition_in_force(pool: Pool) -> None:
    clock = SystemClock()
    desk = RegionDesk(pool, clock, Approvals(pool, clock, {}))
    assert await desk.drawn("SG", ["a"]) == []
    await load(pool, [region("z", 0.0, 0.0, "ID")])
    for number, (west, gone) in enumerate([(0.0, "c"), (1.0, "a")], 1):
        there = [region("b", west, 0.0), *(region(each, 3.0, 0.0) for each in "ac" if each != gone)]
        await load(pool, there)
        await load(pool, [region("d", 0.0, 0.0)], waits=True)
        for _ in range(2):  # the second time from memory
            assert await desk.drawn("SG", ["b", gone]) == [there[0]]
            edition, found = await desk.find("b")
            assert (edition.number, found) == (2 * number - 1, there[0])
            with pytest.raises(Refused, match=gone):
                await desk.find(gone)


async def test_an_edition_that_was_compared_with_an_older_one_is_refused(pool: Pool) -> None:
    edition = edition_of("SG", [region("a", 0.0, 0.0)])
    loading = Loading("person:ann", SystemClock().now(), waits=False, compared_with=0)
    assert await RegionStore(pool).load(edition, loading, nothing_else) == 1
    with pytest.raises(Refused, match="SG@1 came in force since"):
        await RegionStore(pool).load(edition, loading, nothing_else)


async def test_of_two_editions_that_were_compared_with_the_same_one_only_one_comes_in_force(pool: Pool) -> None:
    await load(pool, [region("a", 0.0, 0.0)])
    first, second = [await load(pool, [region(id_, 1.0, 0.0)], waits=True) for id_ in "bc"]
    await enter(pool, first, compared_with=1)
    with pytest.raises(Refused, match="SG@2 came in force since"):
        await enter(pool, second, compared_with=1)


async def test_ids_are_those_of_all_countries(pool: Pool) -> None:
    await load(pool, [region("a", 0.0, 0.0, "ID")])
    with pytest.raises(DocumentFaults, match="a: a region of ID has this id"):
        await load(pool, [region("a", 0.0, 0.0)])


async def test_old_editions_go_with_their_shapes_and_indexes(pool: Pool) -> None:
    for number in range(KEPT + 2):
        await load(pool, [region("same", 0.0, 0.0), region("other", float(number), 1.0)])
    editions = await RegionStore(pool).editions("SG")
    assert [each.number for each in editions] == list(range(KEPT + 2, 2, -1))
    assert await pool.fetchval("select count(*) from region_shape") == KEPT + 1
    assert await pool.fetchval("select count(*) from region_index") == 1
    entries = await RegionStore(pool).entries("SG", editions[-1].number)
    assert await RegionStore(pool).regions(entries) == [region("other", 2.0, 1.0), region("same", 0.0, 0.0)]
