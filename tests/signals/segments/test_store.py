"""Segments are made, changed, combined and dropped on a real Postgres."""

import asyncio

import asyncpg
import pytest

from abacus.core.errors import Refused
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.signals.segments.store import KEPT, Author, SegmentStore
from abacus.signals.segments.types import NOBODY, Changed, How
from tests.signals.segments.sets_of_members import ANN, NOW, change, erase, load, members_of, numbered
from tests.support.waiting import waiting

pytestmark = pytest.mark.once


def told(changed: Changed) -> tuple[str, int, int, int, bool]:
    return changed.segment.label, changed.segment.size, changed.added, changed.removed, changed.made_a_version


async def test_versions_count_from_one_and_earlier_ones_stay_as_they_were(pool: Pool) -> None:
    assert told(await load(pool, "vip", "ann", "bob")) == ("vip@1", 2, 2, 0, True)
    assert told(await change(pool, "vip", How.ADD, "bob", "cid")) == ("vip@2", 3, 1, 0, True)
    assert told(await change(pool, "vip", How.REMOVE, "ann", "zoe")) == ("vip@3", 2, 0, 1, True)
    assert told(await load(pool, "vip", "zoe")) == ("vip@4", 1, 1, 2, True)
    assert await members_of(pool, "vip") == {"zoe"}
    assert [await members_of(pool, f"vip@{version}") for version in (1, 2, 3)] == [
        {"ann", "bob"},
        {"ann", "bob", "cid"},
        {"bob", "cid"},
    ]
    assert [(each.version, each.how, each.created_by) for each in await SegmentStore(pool).history("vip")] == [
        (4, "load", "person:ann"),
        (3, "remove", "person:ann"),
        (2, "add", "person:ann"),
        (1, "load", "person:ann"),
    ]


async def test_a_change_that_changes_nothing_makes_no_version_and_writes_nothing(pool: Pool) -> None:
    async def fails(_: Connection) -> None:
        raise AssertionError

    await load(pool, "vip", "ann", "bob")
    silent = Author("person:ann", NOW, fails)
    again = await numbered(pool, "bob", "ann")
    for how in (How.LOAD, How.ADD):
        assert told(await SegmentStore(pool).change("vip", how, again, silent, country=None)) == (
            "vip@1",
            2,
            0,
            0,
            False,
        )
    assert len(await SegmentStore(pool).history("vip")) == 1


async def test_what_belongs_to_a_change_is_written_with_it_or_nothing_is(pool: Pool) -> None:
    async def fails(_: Connection) -> None:
        raise Refused("no")

    with pytest.raises(Refused, match="no"):
        await SegmentStore(pool).change("vip", How.LOAD, NOBODY, Author("ann", NOW, fails), country=None)
    assert await SegmentStore(pool).all() == []


@pytest.mark.parametrize(
    ("how", "expected"),
    [(How.INTERSECT, {"bob"}), (How.UNION, {"ann", "bob", "cid"}), (How.SUBTRACT, {"ann"})],
)
async def test_two_segments_are_combined_in_place_or_into_a_third(pool: Pool, how: How, expected: set[str]) -> None:
    store = SegmentStore(pool)
    await load(pool, "left", "ann", "bob")
    await load(pool, "right", "bob", "cid")
    assert told(await store.combine("left", how, "right", ANN, into="third", country=None))[0] == "third@1"
    assert await members_of(pool, "third") == expected
    assert await members_of(pool, "left") == {"ann", "bob"}
    await store.combine("left", how, "right", ANN, into="left", country=None)
    assert await members_of(pool, "left") == expected
    assert await members_of(pool, "right") == {"bob", "cid"}


async def test_a_dropped_segment_is_not_there_until_it_is_loaded_again(pool: Pool) -> None:
    store = SegmentStore(pool)
    await load(pool, "vip", "ann", country="SG")
    assert told(await store.change("vip", How.DROP, NOBODY, ANN, country="SG")) == ("vip@2", 0, 0, 1, True)
    assert await store.all() == []
    for attempt in (
        store.latest("vip"),
        store.members("vip"),
        change(pool, "vip", How.ADD, "bob"),
        change(pool, "vip", How.REMOVE, "bob"),
        store.change("vip", How.DROP, NOBODY, ANN, country="SG"),
        store.combine("vip", How.UNION, "vip", ANN, into="vip", country=None),
    ):
        with pytest.raises(Refused, match="there is no segment 'vip'"):
            await attempt
    assert told(await load(pool, "vip", country="ID")) == ("vip@3", 0, 0, 0, True)
    assert [each.label for each in await store.all()] == ["vip@3"]


async def test_a_segment_keeps_its_country(pool: Pool) -> None:
    await load(pool, "vip", "ann", country="SG")
    await load(pool, "all", "ann", "bob")
    with pytest.raises(Refused, match="vip@1 is of SG, not of all countries; drop it first to load it for all"):
        await load(pool, "vip", "bob")
    with pytest.raises(Refused, match="all@1 is of all countries, not of SG"):
        await SegmentStore(pool).combine("vip", How.UNION, "all", ANN, into="all", country="SG")


async def test_the_last_versions_are_kept(pool: Pool) -> None:
    for version in range(KEPT + 3):
        await load(pool, "vip", f"m{version}")
    assert [each.version for each in await SegmentStore(pool).history("vip")] == list(range(KEPT + 3, 3, -1))
    assert await members_of(pool, "vip@4") == {"m3"}
    with pytest.raises(Refused, match="there is no segment 'vip@3'; `abacus segments show vip` prints the versions"):
        await SegmentStore(pool).members("vip@3")


async def test_a_new_version_is_made_without_erased_members(pool: Pool, database_url: str) -> None:
    await load(pool, "vip", "ann", "bob", "cid")
    owner = await open_pool(database_url, size=1, role=None)
    await erase(owner, "bob")
    await owner.close()
    assert await members_of(pool, "vip") == {"ann", "cid"}
    assert told(await change(pool, "vip", How.ADD, "bob", "dan")) == ("vip@2", 4, 2, 1, True)
    assert await members_of(pool, "vip") == {"ann", "bob", "cid", "dan"}


async def test_of_two_at_once_the_second_changes_what_the_first_made(pool: Pool) -> None:
    first_is_in, go_on = asyncio.Event(), asyncio.Event()

    async def held(_: Connection) -> None:
        first_is_in.set()
        await go_on.wait()

    await load(pool, "vip", "ann")
    await load(pool, "other", "cid")
    bob = await numbered(pool, "bob")
    slow = Author("person:ann", NOW, held)
    first = asyncio.create_task(SegmentStore(pool).change("vip", How.ADD, bob, slow, country=None))
    await first_is_in.wait()
    second = asyncio.create_task(change(pool, "vip", How.ADD, "dan"))
    third = asyncio.create_task(SegmentStore(pool).combine("vip", How.UNION, "other", ANN, into="vip", country=None))
    await waiting(pool, second, third)
    assert (await load(pool, "another", "dan")).made_a_version, "another segment waits for nobody"
    go_on.set()
    await asyncio.gather(first, second, third)
    assert await members_of(pool, "vip") == {"ann", "bob", "cid", "dan"}
    assert (await SegmentStore(pool).latest("vip")).version == 4


@pytest.mark.parametrize(
    "statement",
    ["update segment_version set size = 0", "truncate segment_version", "delete from member_number"],
)
async def test_no_version_and_no_number_is_ever_changed(pool: Pool, statement: str) -> None:
    await load(pool, "vip", "ann")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await pool.execute(statement)
