"""The line of single codes: an offer in force without a free code is told."""

from collections.abc import Sequence

import pytest

from abacus.core.clock import SystemClock
from abacus.engage.offers.codes.status import CodesLeft, codes_left, told_of
from abacus.platform.postgres import Pool
from tests.engage.offers.coded import codes, load
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
