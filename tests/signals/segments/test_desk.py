"""The desk of segments: what a change would do is what it does, and members are told page by page."""

import pytest

from abacus.core.errors import Refused
from abacus.people.types.person import Actor, Grant, Role
from abacus.platform.postgres import Pool, open_pool
from abacus.signals.segments.desk import SegmentDesk
from abacus.signals.segments.types import How
from tests.signals.segments.sets_of_members import NOW, change, erase, load, members_of
from tests.support.fixed_clock import FixedClock
from tests.support.hooks import award, post

pytestmark = pytest.mark.once

OLGA = Actor("olga", (Grant(Role.OPERATOR),))
EDDY = Actor("eddy", (Grant(Role.COUNTRY_EDITOR, "SG"),))


@pytest.fixture
def desk(pool: Pool) -> SegmentDesk:
    return SegmentDesk(pool, FixedClock(NOW))


@pytest.mark.parametrize(
    ("how", "ids", "told"),
    [
        (How.ADD, ["ann", "dan", "bob"], (4, 1, 0, 2, ["dan"])),
        (How.LOAD, ["ann", "dan"], (2, 1, 2, 1, ["dan"])),
        (How.REMOVE, ["ann", "dan", "eve"], (2, 0, 1, 2, [])),
        (How.ADD, ["ann"], (3, 0, 0, 1, [])),
    ],
)
async def test_what_a_change_would_do_is_what_it_does(
    pool: Pool, desk: SegmentDesk, how: How, ids: list[str], told: tuple[int, int, int, int, list[str]]
) -> None:
    for each in ("ann", "bob", "cid"):
        await post(pool, award(f"txn:rides:{each}", member=each))
    await load(pool, "vip", "ann", "bob", "cid")
    await load(pool, "other", "eve")
    seen = await desk.outlook("vip", how, ids, None)
    assert (seen.size, seen.added, seen.removed, seen.idle, list(seen.strangers)) == told
    assert not await pool.fetchval("select exists(select from member_number where member_id = 'dan')")
    changed = await desk.change("vip", how, await desk.numbers(how, ids), OLGA, country=None)
    assert (changed.segment.size, changed.added, changed.removed) == told[:3]


async def test_what_two_would_make_is_what_they_make(pool: Pool, desk: SegmentDesk) -> None:
    await load(pool, "vip", "ann", "bob")
    await load(pool, "lapsed", "bob", "cid")
    seen = await desk.outlook_of_two("vip", How.INTERSECT, "lapsed", "both")
    assert (seen.before, seen.size, seen.added, seen.removed) == (None, 1, 1, 0)
    seen = await desk.outlook_of_two("vip", How.SUBTRACT, "lapsed", None)
    assert (seen.size, seen.added, seen.removed) == (1, 0, 1)
    await desk.combine("vip", How.SUBTRACT, "lapsed", OLGA)
    assert await members_of(pool, "vip") == {"ann"}


async def test_an_id_that_no_new_member_may_have_is_told_before_anything_is_changed(
    pool: Pool, desk: SegmentDesk
) -> None:
    await load(pool, "vip", "ann")
    with pytest.raises(Refused, match="no id for a new member"):
        await desk.outlook("vip", How.ADD, ["=bob"], None)


async def test_members_are_told_page_by_page(pool: Pool, database_url: str, desk: SegmentDesk) -> None:
    await load(pool, "vip", *"abcde")
    await change(pool, "vip", How.REMOVE, "b")
    first = await desk.page("vip", -1, 2)
    assert (first.members, first.more) == (["a", "c"], 2)
    last = await desk.page("vip", 2, 2)
    assert (last.members, last.more) == (["d", "e"], None)
    assert [page.members async for page in desk.pages("vip@1", 3)] == [["a", "b", "c"], ["d", "e"]]
    owner = await open_pool(database_url, size=1, role=None)
    await erase(owner, "d")
    await owner.close()
    assert (await desk.page("vip", 2, 2)).members == ["e"]


async def test_a_login_may_change_nothing_where_people_are_required(pool: Pool) -> None:
    desk = SegmentDesk(pool, FixedClock(NOW), people_required=True)
    with pytest.raises(Refused, match="is a login and no person"):
        await desk.country("vip", How.LOAD, Actor("root@host", None))


async def test_who_may_change_a_segment_may_do_so_in_its_country(pool: Pool, desk: SegmentDesk) -> None:
    await load(pool, "vip", "ann")
    await load(pool, "local", "ann", country="SG")
    assert await desk.country("local", How.ADD, EDDY) == "SG"
    assert await desk.country("fresh", How.LOAD, EDDY, "SG") == "SG"
    for name, how in (("vip", How.ADD), ("vip", How.DROP), ("fresh", How.LOAD)):
        with pytest.raises(Refused, match="eddy may not publish segments in all countries"):
            await desk.country(name, how, EDDY)
    with pytest.raises(Refused, match="eddy may not publish segments in all countries"):
        await desk.combine("local", How.UNION, "vip", EDDY, into="vip")
