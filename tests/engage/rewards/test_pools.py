"""Codes are loaded into pools: each once, in the order of the file."""

import pytest

from abacus.engage.rewards.pools import CodeLoader, Loaded, pool_states
from abacus.platform.postgres import Pool
from tests.support.rewards import NOW, SECRETS


@pytest.mark.parametrize(
    ("codes", "loaded", "places"),
    [
        (["A", "B"], Loaded(0, 2), 2),
        (["B", "C", "C", "D", "A"], Loaded(2, 3), 4),
        (["C", "D"], Loaded(2, 0), 4),
        ([], Loaded(0, 0), 2),
    ],
)
async def test_a_code_that_is_there_is_passed_over(pool: Pool, codes: list[str], loaded: Loaded, places: int) -> None:
    loader = CodeLoader(pool, SECRETS)
    assert await loader.load("tea", iter(["A", "B"]), NOW) == Loaded(2, 0)
    assert await loader.load("tea", iter(codes), NOW) == loaded
    (state,) = await pool_states(pool, "tea")
    assert (state.loaded, state.free) == (places, places)
    rows = await pool.fetch("select place from reward_code order by place")
    assert [row["place"] for row in rows] == list(range(1, places + 1))
