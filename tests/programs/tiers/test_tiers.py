"""The promises of `Tiers` to its readers, wherever tiers are kept."""

import pytest

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.programs.tiers.store import MembershipStore
from tests.support.memory_tiers import MemoryTiers

BOB, BOB_OVO, JANE = ("bob", "GRP"), ("bob", "OVO"), ("jäne ", "GRP")


@pytest.fixture
async def stored_tiers(pool: Pool) -> MembershipStore:
    store = MembershipStore(pool, SystemClock())
    for account, tier in ((BOB, "silver"), (BOB, "platinum")):
        await store.set(account, tier, reason="test", actor="test")
    await pool.execute("insert into account_tier (member_id, program, tier) values ($1, $2, 'gold')", *JANE)
    return store


@pytest.fixture(params=["memory", "postgres"])
def tiers(request: pytest.FixtureRequest) -> MemoryTiers | MembershipStore:
    if request.param == "memory":
        return MemoryTiers({BOB: "platinum", JANE: "gold"})
    stored: MembershipStore = request.getfixturevalue("stored_tiers")
    return stored


async def test_each_account_has_its_own_tier_and_who_is_not_listed_is_a_member(
    tiers: MemoryTiers | MembershipStore,
) -> None:
    nobody = ("nobody", "GRP")
    assert await tiers.tiers_of([BOB, BOB_OVO, JANE, nobody, BOB]) == {
        BOB: "platinum",
        BOB_OVO: "member",
        JANE: "gold",
        nobody: "member",
    }


async def test_asking_for_nobody_is_answered(tiers: MemoryTiers | MembershipStore) -> None:
    assert await tiers.tiers_of([]) == {}
