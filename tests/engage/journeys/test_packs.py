"""Members who wait for the same are in few packs, nobody twice, and nobody is due too early."""

import random
from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.journeys.decide.packs import LARGEST, Pack, packed
from abacus.engage.journeys.decide.seat import Seat, Waits
from tests.engage.journeys.travelling import DAY, JOURNEY, NOW, ZONE

SECOND = timedelta(seconds=1)
waits = st.builds(
    Waits,
    node=st.integers(1, 3),
    turn=st.integers(0, 1),
    due=st.sampled_from([NOW, NOW + SECOND / 4, NOW + SECOND / 2, NOW + SECOND, NOW + DAY]),
    zone=st.sampled_from([ZONE, "Asia/Jakarta"]),
    arm=st.sampled_from([None, "control"]),
    awaits=st.booleans(),
    since=st.sampled_from([None, NOW]),
)


def seat(member: int, visit: int = 1, version: int = 1) -> Seat:
    return Seat(
        f"m{member}", JOURNEY, visit, member, version, "key", "SG", NOW, None, None, None, NOW, None, None, None
    )


def second_of(due: datetime) -> datetime:
    return due.replace(microsecond=0)


@given(st.lists(st.tuples(st.integers(1, 2), st.integers(1, 2), waits), max_size=60), st.randoms())
def test_each_member_is_in_one_pack_of_its_like(some: list[tuple[int, int, Waits]], chance: random.Random) -> None:
    waiting = [(seat(number, visit, version), wait) for number, (visit, version, wait) in enumerate(some)]
    packs = list(packed(waiting, chance.random))
    found = {(member, visit): each for each in packs for member, visit in zip(each.members, each.visits, strict=True)}
    assert len(packs) == len({_place(each) for each in packs})
    assert len(found) == len(waiting) == sum(len(each.members) for each in packs)
    for one, wait in waiting:
        pack = found[one.member, one.visit]
        assert (pack.version, pack.node, pack.turn, pack.zone, pack.arm, pack.awaits) == (
            one.version,
            *wait[:2],
            *wait[3:6],
        )
        assert wait.due <= pack.due < wait.due + 2 * SECOND


def _place(pack: Pack) -> tuple[object, ...]:
    return *pack[:7], second_of(pack.due)


def test_a_herd_fills_its_packs_and_is_spread_over_the_second() -> None:
    at = Waits(2, 0, NOW, ZONE)
    packs = list(packed(((seat(number), at) for number in range(10_000)), random.Random(1).random))
    assert [len(each.members) for each in packs] == [LARGEST] * 20
    assert all(before < after for each in packs for before, after in pairwise(each.members))
    dues = {each.due for each in packs}
    assert (len(dues), {second_of(each) for each in dues}) == (20, {NOW})
    assert len({each.id for each in packs}) == 20
