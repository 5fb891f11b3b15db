"""Used codes are held against what was redeemed, also where nobody has noted yet that they are used."""

import pytest

from abacus.oversight.reconcile.offer_codes import compared_codes
from abacus.oversight.reconcile.offers import compared_offers
from abacus.platform.postgres import Pool, snapshot
from tests.engage.offers.coded import CODED, coded, codes, load, order, paying
from tests.engage.offers.taken import NOW
from tests.support.fixed_clock import FixedClock
from tests.support.offers import document, run_offers

USED = "single codes used"
DIFFERING = "offers whose used codes are not those of their redemptions"


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ("select", set()),
        ("update offer_code_use set used_at = null", set()),  # the sweeper has not come to it yet
        ("delete from offer_code_use where used_at is not null", {USED, DIFFERING}),
        ("update offer_code_use set reservation_id = gen_random_uuid() where used_at is not null", {DIFFERING}),
    ],
)
async def test_what_does_not_come_out_is_named(pool: Pool, broken: str, expected: set[str]) -> None:
    await load(pool, some := codes(3))
    await run_offers(pool, document(name=CODED.name, audience="code", codes="pool"))
    by_code = coded(pool, FixedClock(NOW), CODED)
    held = [
        (await by_code.till.reserve(order(number, code, member_id=f"m{number}"))).reservations[0]
        for number, code in enumerate(some)
    ]
    for each in held[:2]:
        await by_code.till.redeem(paying(each))
    await by_code.sweeper.sweep()
    await pool.execute(broken)
    async with snapshot(pool) as connection:
        compared = [*await compared_codes(connection), *await compared_offers(connection)]
    assert {each.what for each in compared if each.counted != each.other} == expected
    assert {USED, DIFFERING} < {each.what for each in compared}


async def test_nothing_is_compared_without_such_offers(pool: Pool) -> None:
    async with snapshot(pool) as connection:
        assert await compared_codes(connection) == []
