"""What a member has taken is found by the member, whoever else took the same, also by a plan of the first call ever."""

import re
from collections.abc import Awaitable, Callable

import pytest

from abacus.engage.limits.types import Bound
from abacus.platform.postgres import LOOKUPS_BY_KEY, Pool, open_pool
from tests.engage.offers.taken import desk, held, limited, wish
from tests.support.fixed_clock import FixedClock
from tests.support.rewards import NOW, Counter, give_points, load_codes, reward
from tests.support.slices import neighbour

ANN = neighbour("ann")
_OF = "select statement from pg_prepared_statements where strpos(statement, $1) > 0"


async def _redeem(pool: Pool) -> None:
    await load_codes(pool, ["KOPI-1"])
    await give_points(pool, [ANN], 1_200)
    await Counter(pool, [reward()]).redeem("1", ANN)


async def _reserve(pool: Pool) -> None:
    await held(desk(pool, FixedClock(NOW)), wish(1, ANN, limited(member=Bound(runs=3))))


@pytest.mark.once  # the indexes are the same in a slice
@pytest.mark.parametrize(
    ("take", "sums", "index"),
    [
        (_redeem, "sum(r.quantity) filter", "reward_redemption_member_id_idx"),
        (_reserve, "sum(r.points) filter", "offer_reservation_member_id_offer_idx"),
    ],
    ids=["rewards", "offers"],
)
async def test_it_is_found_by_the_member(
    pool: Pool, database_url: str, take: Callable[[Pool], Awaitable[None]], sums: str, index: str
) -> None:
    alone = await open_pool(database_url, size=1, settings=LOOKUPS_BY_KEY, keeps_nothing=True)
    try:
        await take(alone)
        async with alone.acquire() as connection:
            (statement,) = [row[0] for row in await connection.fetch(_OF, sums)]
            await connection.execute(f"prepare sums as {statement}")
            given = ", ".join(["null"] * len(set(re.findall(r"\$\d+", statement))))
            plan = "\n".join(row[0] for row in await connection.fetch(f"explain execute sums({given})"))
        assert index in plan, plan
    finally:
        await alone.close()
