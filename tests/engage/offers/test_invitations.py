"""Invitations: one row a member, whatever is added, taken back and replaced."""

import pytest

from abacus.engage.offers.invitations import InvitationStore
from abacus.platform.postgres import Pool

MEMBERS = [f"m{number}" for number in range(20)]


@pytest.fixture
def store(pool: Pool) -> InvitationStore:
    return InvitationStore(pool)


async def invited(pool: Pool) -> dict[str, set[int]]:
    """The offers of each member."""
    return {row["member_id"]: set(row["offers"]) for row in await pool.fetch("select * from offer_invitation")}


async def test_members_are_invited_and_not(store: InvitationStore, pool: Pool) -> None:
    assert await store.add(7, ["bob", "eve"]) == 2
    assert await store.add(7, ["bob", "kim"]) == 1
    assert await store.add(3, ["bob"]) == 1
    assert await invited(pool) == {"bob": {3, 7}, "eve": {7}, "kim": {7}}
    assert await store.remove(7, ["bob", "eve", "zoe"]) == 2
    assert await store.remove(7, ["bob"]) == 0
    assert await invited(pool) == {"bob": {3}, "kim": {7}}
    assert (await store.count(7), await store.count(3), await store.count(1)) == (1, 1, 0)


async def test_others_lose_their_invitations(store: InvitationStore, pool: Pool) -> None:
    await store.add(1, MEMBERS)
    await store.add(2, MEMBERS)
    assert await store.remove_others(1, frozenset(MEMBERS[:3]), at_once=4) == 17
    assert (await store.count(1), await store.count(2)) == (3, 20)
    assert await invited(pool) == {each: {1, 2} if each in MEMBERS[:3] else {2} for each in MEMBERS}


async def test_nobody_is_named(store: InvitationStore) -> None:
    assert (await store.add(1, []), await store.remove(1, [])) == (0, 0)
