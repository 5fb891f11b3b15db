"""The line of single codes: an offer in force without a free code is told."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY

from abacus.core.clock import SystemClock
from abacus.engage.offers.codes.status import CodesLeft, codes_left, measure_codes, told_of
from abacus.platform.postgres import Pool
from tests.engage.offers.coded import codes, load
from tests.support.fixed_clock import FixedClock
from tests.support.offers import document, run_offers

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("left", "told", "fault"),
    [
        ([], "0 pools of offers, 0 low, 0 empty", None),
        ([CodesLeft("tea", 100, 5)], "1 pools of offers, 0 low, 0 empty", None),
        ([CodesLeft("tea", 100, 4)], "1 pools of offers, 1 low, 0 empty", None),
        (
            [CodesLeft("tea", 100, 0), CodesLeft("lunch", 0, 0)],
            "2 pools of offers, 0 low, 2 empty",
            "no single code is free any more: tea, lunch",
        ),
    ],
)
def test_what_is_told(left: Sequence[CodesLeft], told: str, fault: str | None) -> None:
    line = told_of(left)
    assert (line.told, line.problem and line.problem.fault) == (told, fault)


async def test_offers_in_force_are_looked_at(pool: Pool) -> None:
    now = SystemClock().now()
    await run_offers(pool, document(audience="code", codes="pool"), document(name="open", audience="code", code="OPEN"))
    assert await codes_left(pool, now) == [CodesLeft("lunch_20", 0, 0)]
    await load(pool, codes(3))
    assert await codes_left(pool, now) == [CodesLeft("lunch_20", 3, 3)]


async def test_free_codes_are_measured_while_the_offer_is_in_force(pool: Pool) -> None:
    clock = FixedClock(SystemClock().now())
    await run_offers(pool, document(audience="code", codes="pool"))
    await load(pool, codes(3), "ended")
    await measure_codes(pool, clock)
    assert _measured() == (0, 1)
    await load(pool, codes(3))
    await measure_codes(pool, clock)
    assert _measured() == (3, 0)
    clock.set(clock.now() + timedelta(days=36_500))
    await measure_codes(pool, clock)
    assert _measured() == (None, None)


def _measured() -> tuple[float | None, float | None]:
    """How many codes are free, and whether these are few."""
    free, low = (
        REGISTRY.get_sample_value(f"abacus_offer_codes_{name}", {"offer": "lunch_20"}) for name in ("free", "low")
    )
    return free, low
