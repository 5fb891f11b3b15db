"""What people have to look at: late and unfinished redemptions, and pools that run low; and whether all comes out."""

from datetime import timedelta

import orjson
import pytest
from prometheus_client import REGISTRY

from abacus.cli.examples import example_cards
from abacus.engage.rewards.status import PoolLevel, RewardState, measure, reward_state, told_of
from abacus.oversight.reconcile.rewards import reward_books
from abacus.platform.postgres import Pool
from abacus.pricing.store.cards import CardStore
from tests.support.fixed_clock import FixedClock
from tests.support.rewards import DAY, NOW, Counter, give_points, load_codes, reward, run_reward
from tests.support.sealing import tampering


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (RewardState(0, 0, [PoolLevel("tea", 5, 5)]), None),
        (RewardState(0, 0, [PoolLevel("tea", 4, 5)]), "free codes run low: tea (4)"),
        (RewardState(2, 0, []), "2 redemptions were not reported by their fulfillers in time"),
        (RewardState(2, 1, [PoolLevel("tea", 0, 1)]), "1 redemptions are not gone on with"),
    ],
)
def test_the_worst_is_told(state: RewardState, fault: str | None) -> None:
    problem = told_of(state).problem
    assert (problem.fault if problem is not None else None) == fault


async def test_a_fulfiller_is_called_once_and_called_off_once(pool: Pool) -> None:
    await give_points(pool, ["bob"], 1200)
    at = Counter(pool, [reward(delivery={"webhook": "vouchers", "partner": "voucher_house"})])
    sent = await at.redeem("1")
    await at.deliveries.after_payment([sent])  # a process that dies behind the call leaves it to another one
    state = await reward_state(pool, at.clock.now() + timedelta(hours=2))
    assert (state.late, state.unfinished) == (1, 0)
    await at.desk.cancel(sent)
    rows = await pool.fetch("select number, receiver, event, document from action order by number")
    said = [(row["number"], row["receiver"], orjson.loads(row["document"])["state"]) for row in rows]
    assert said == [(1, "webhook:vouchers", "asked"), (2, "webhook:vouchers", "cancelled")]
    assert (await reward_state(pool, at.clock.now() + timedelta(hours=2))).late == 0
    assert await reward_books(pool) == (1, 0, [])


async def test_free_codes_are_measured_while_a_reward_in_force_uses_the_pool(pool: Pool) -> None:
    singapore = next(card for card in example_cards() if card.scope == "SG")
    await CardStore(pool).publish(singapore, by="tests", now=NOW)
    await load_codes(pool, ["A", "B"])
    await run_reward(pool, delivery={"pool": "coffee_codes", "low": 3})
    await measure(pool, FixedClock(NOW))
    assert _measured() == (2, 1)
    await measure(pool, FixedClock(NOW + 31 * DAY))
    assert _measured() == (None, None)


def _measured() -> tuple[float | None, float | None]:
    """How many codes are free, and whether these are few."""
    free, low = (
        REGISTRY.get_sample_value(f"abacus_reward_codes_{name}", {"pool": "coffee_codes"}) for name in ("free", "low")
    )
    return free, low


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("update reward_use set pieces = 2 where period = ''", "2 pieces are counted, 1 were redeemed"),
        ("update reward_use set pieces = 0 where period <> ''", "0 pieces are counted, 1 were redeemed"),
        ("delete from reward_use", "0 pieces are counted, 1 were redeemed"),
        ("update reward_code set redemption_id = null", "it has 0 codes for 1 pieces"),
        ("update reward_code set redemption_id = null", "1 codes were handed out, and no redemption has them"),
        ("update reward_code set redemption_id = gen_random_uuid()", "1 codes are of redemptions that there are not"),
        ("update reward_pool set given = 0", "1 codes are used that were not handed out"),
        ("delete from reward_code", "1 codes were loaded, 0 are there"),
        ("update reward_redemption set points = 400", "it costs 400 points, and 500 are paid"),
        ("delete from reward_redemption", "1 payments for rewards are posted, 0 have a redemption"),
        ("update reward_redemption set stage = 'refused'", "it is refused, and its points are paid"),
        ("update reward_redemption set stage = 'returned'", "it is returned, and its points are not back"),
    ],
)
async def test_what_does_not_come_out_is_found(pool: Pool, database_url: str, change: str, fault: str) -> None:
    await give_points(pool, ["bob"], 1200)
    await load_codes(pool, ["A"])
    await Counter(pool, [reward()]).redeem("1")
    assert await reward_books(pool) == (1, 0, [])
    async with tampering(database_url) as owner:
        await owner.execute(change)
    assert fault in {each.fault for each in (await reward_books(pool)).faults}
