"""Each process has the segments in use as they are in force, and answers for members that come into them and go."""

import asyncio
import time
from collections.abc import AsyncIterator, Collection, Mapping

import pytest

from abacus.core.errors import Unavailable
from abacus.platform.announcements import Announced, Announcements
from abacus.platform.fresh_copy import Cadence
from abacus.platform.postgres import Pool, open_connection, open_pool
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.sets import SegmentSets, looked_up_anew
from abacus.signals.segments.store import InUse, SegmentStore
from abacus.signals.segments.types import NOBODY, Held, How
from tests.signals.segments.sets_of_members import ANN, change, erase, load

pytestmark = pytest.mark.once


class Counted:
    """The store and the register, with what was read of them."""

    def __init__(self, pool: Pool) -> None:
        self.loaded: list[set[str]] = []
        self.asked: list[set[str]] = []
        self.down = False
        self._store = SegmentStore(pool)
        self._numbers = MemberNumbers(pool)

    async def load(self, names: Collection[str], held: Mapping[str, Held]) -> InUse:
        if self.down:
            raise Unavailable("database", "connection refused")
        in_use = await self._store.in_use(names, held)
        self.loaded.append({each.name for each in in_use.held if held.get(each.name) is not each and each.version})
        return in_use

    async def ask(self, member_ids: Collection[str]) -> Mapping[str, int]:
        if self.down:
            raise Unavailable("database", "connection refused")
        self.asked.append(set(member_ids))
        return await self._numbers.known(member_ids)


@pytest.fixture
def counted(pool: Pool) -> Counted:
    return Counted(pool)


@pytest.fixture
def sets(counted: Counted) -> SegmentSets:
    """It reads when it is told to, or lacks a segment."""
    return SegmentSets(counted.load, counted.ask, Cadence(refresh_every_s=3600, look_again_every_s=0))


async def has(sets: SegmentSets, name: str, member: str) -> bool:
    return (await sets.look([(name, member)]))[name, member]


async def test_members_of_the_segments_in_use_are_found(pool: Pool, sets: SegmentSets) -> None:
    await load(pool, "vip", "ann", "bob")
    await load(pool, "new", "bob", "cid")
    sets.use({"vip", "new", "planned"})
    pairs = [(name, member) for name in ("vip", "new", "planned") for member in ("ann", "bob", "cid", "zoe")]
    assert {pair for pair, there in (await sets.look(pairs)).items() if there} == {
        ("vip", "ann"),
        ("vip", "bob"),
        ("new", "bob"),
        ("new", "cid"),
    }
    assert await sets.look([]) == {}


async def test_only_segments_in_use_are_read_and_only_when_they_changed(
    pool: Pool, sets: SegmentSets, counted: Counted
) -> None:
    for name in ("vip", "new", "large"):
        await load(pool, name, "ann")
    sets.use({"vip", "new"})
    assert await has(sets, "vip", "ann")
    await change(pool, "new", How.ADD, "bob")
    await sets.refresh()
    sets.use({"new", "large"})
    assert await has(sets, "large", "ann")
    assert counted.loaded == [{"vip", "new"}, {"new"}, {"large"}]
    looking = await sets.look_for(["ann"])
    with pytest.raises(LookupError, match="vip"):
        looking.contains("vip", "ann")


async def test_a_batch_asks_once_for_members_that_are_not_known(
    pool: Pool, sets: SegmentSets, counted: Counted
) -> None:
    await load(pool, "vip", "ann", "bob")
    await load(pool, "new", "cid")
    sets.use({"vip", "new"})
    await sets.look([("vip", "ann"), ("new", "ann"), ("vip", "zoe")])
    looking = await sets.look_for(["ann", "cid", "zoe"])
    assert (looking.contains("vip", "ann"), looking.contains("new", "cid"), looking.contains("vip", "zoe")) == (
        True,
        True,
        False,
    )
    assert counted.asked == [{"ann", "zoe"}, {"cid"}]


async def test_a_member_without_a_number_is_found_once_it_is_in_a_segment(pool: Pool, sets: SegmentSets) -> None:
    await load(pool, "vip", "ann")
    sets.use({"vip"})
    assert not await has(sets, "vip", "zoe")
    await change(pool, "vip", How.ADD, "zoe")
    assert not await has(sets, "vip", "zoe"), "it holds the version before"
    await sets.refresh()
    assert await has(sets, "vip", "zoe")


async def test_an_erased_member_is_in_no_segment_and_may_come_into_one_again(
    pool: Pool, sets: SegmentSets, database_url: str
) -> None:
    await load(pool, "vip", "ann", "bob")
    sets.use({"vip"})
    assert await has(sets, "vip", "bob")
    owner = await open_pool(database_url, size=1, role=None)
    await erase(owner, "bob")
    await owner.close()
    await sets.refresh()
    assert not await has(sets, "vip", "bob")
    await load(pool, "other", "bob")
    await sets.refresh()
    assert not await has(sets, "vip", "bob"), "its new number is not in this segment"
    await change(pool, "vip", How.ADD, "bob")
    await sets.refresh()
    assert await has(sets, "vip", "bob")
    assert await has(sets, "vip", "ann")


async def test_a_dropped_segment_has_no_members(pool: Pool, sets: SegmentSets) -> None:
    await load(pool, "vip", "ann")
    sets.use({"vip"})
    assert await has(sets, "vip", "ann")
    await SegmentStore(pool).change("vip", How.DROP, NOBODY, ANN, country=None)
    await sets.refresh()
    assert not await has(sets, "vip", "ann")


async def test_what_is_known_is_answered_while_the_database_is_away(
    pool: Pool, sets: SegmentSets, counted: Counted
) -> None:
    await load(pool, "vip", "ann")
    sets.use({"vip"})
    counted.down = True
    with pytest.raises(Unavailable, match="connection refused"):
        await has(sets, "vip", "ann")
    counted.down = False
    assert await has(sets, "vip", "ann")
    counted.down = True
    with pytest.raises(Unavailable):
        await sets.refresh()
    assert await has(sets, "vip", "ann")
    with pytest.raises(Unavailable):
        await has(sets, "vip", "bob")


@pytest.fixture
async def listening(pool: Pool, database_url: str) -> AsyncIterator[SegmentSets]:
    """It reads when something is announced, and not by itself."""
    announcements = Announcements(lambda: open_connection(database_url))
    sets = SegmentSets(SegmentStore(pool).in_use, MemberNumbers(pool).known, Cadence(refresh_every_s=3600))
    announcements.call(sets.wake, on=Announced.SEGMENTS)
    sets.use({"vip"})
    keeping = [asyncio.create_task(each) for each in (announcements.keep_listening(), sets.keep_fresh())]
    yield sets
    for each in keeping:
        each.cancel()
    await asyncio.gather(*keeping, return_exceptions=True)


async def test_a_change_is_in_force_within_a_second(listening: SegmentSets, pool: Pool, database_url: str) -> None:
    owner = await open_pool(database_url, size=1, role=None)
    assert not await has(listening, "vip", "ann")
    for step, there in (
        (lambda: load(pool, "vip", "ann"), True),
        (lambda: change(pool, "vip", How.REMOVE, "ann"), False),
        (lambda: change(pool, "vip", How.ADD, "ann"), True),
        (lambda: erase(owner, "ann"), False),
    ):
        began = time.monotonic()
        await step()
        async with asyncio.timeout(5):
            while await has(listening, "vip", "ann") is not there:  # noqa: ASYNC110  # the task has no event for this
                await asyncio.sleep(0.001)
        assert time.monotonic() - began < 1
    await owner.close()


async def test_who_looks_seldom_sees_each_change(pool: Pool) -> None:
    look, pair = looked_up_anew(pool), ("vip", "bob")
    assert await look([pair]) == {pair: False}
    await load(pool, "vip", "bob")
    assert await look([pair]) == {pair: True}
