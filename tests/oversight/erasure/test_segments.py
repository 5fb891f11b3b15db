"""An erased member is in no segment, also for processes that remember its number, and nobody gets that number."""

from abacus.platform.postgres import Pool
from abacus.signals.segments.numbers import MemberNumbers
from abacus.signals.segments.sets import SegmentSets
from abacus.signals.segments.store import Author, SegmentStore
from abacus.signals.segments.types import How, Members
from tests.oversight.erasure.erasing import ANNA, BOB
from tests.support.forgetting import NOW, eraser


async def test_an_erased_member_is_in_no_segment(pool: Pool, owner: Pool) -> None:
    numbers, store = MemberNumbers(pool), SegmentStore(pool)
    given = Members((await numbers.give([ANNA, BOB])).values())
    await store.change("vip", How.LOAD, given, Author("alice", NOW), country=None)
    sets = SegmentSets(store.in_use, numbers.known)
    sets.use({"vip"})
    pairs = [("vip", ANNA), ("vip", BOB)]
    assert await sets.look(pairs) == dict.fromkeys(pairs, True)

    erased = await eraser(owner).erase(BOB, by="alice", reason="asked to")
    assert erased.rows == {"member_number": 1}
    await sets.refresh()
    assert await sets.look(pairs) == {("vip", ANNA): True, ("vip", BOB): False}
    assert await numbers.members(list(given)) == [ANNA]
    assert (await numbers.give([BOB]))[BOB] not in given

    changed = await store.change("vip", How.ADD, Members(), Author("alice", NOW), country=None)
    assert (changed.segment.size, changed.removed) == (1, 1), "the next version is made without it"
