"""The tier of one account, read with those that others ask for."""

import asyncio

from abacus.core.clock import SystemClock
from abacus.platform.postgres import Pool
from abacus.programs.tiers.store import MembershipStore
from abacus.programs.tiers.tier_reader import TierReader


async def test_each_asker_has_the_tier_of_its_account(pool: Pool) -> None:
    await MembershipStore(pool, SystemClock()).set(("bob", "GRP"), "gold", reason="test", actor="test")
    reader = TierReader(pool)
    asked = [("bob", "GRP"), ("bob", "OVO"), ("jäne ", "GRP"), ("bob", "GRP")]
    assert await asyncio.gather(*map(reader.tier, asked)) == ["gold", "member", "member", "gold"]
