"""An offer for a segment is for members with a number in it; where the segment is not known yet, the answer says so."""

from collections.abc import Sequence
from typing import Final

import pytest
from pyroaring import FrozenBitMap

from abacus.engage.offers.decide.ask import Ask
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.members import Known
from abacus.engage.offers.qualifier import Qualifier
from abacus.ledger.types.account import AccountId
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.types import VariableType
from abacus.signals.facts.decide.catalog import SEGMENT
from abacus.signals.facts.types import FactRegistry
from abacus.signals.rules.decide.types import Condition, Operator, looked_up
from tests.engage.offers.examples import item
from tests.engage.offers.taken import CARD, LUNCH, NOW
from tests.support.fixed_clock import FixedClock

VIP: Final = Condition(Operator.EQ, looked_up(SEGMENT, "segment.vip", VariableType.BOOLEAN), rhs=True)


class Numbered:
    """Members with this number."""

    def __init__(self, number: int | None) -> None:
        self._number = number

    async def of(self, _: AccountId) -> Known:
        return Known("member", None, frozenset(), {}, self._number, NOW)


@pytest.mark.parametrize(
    ("number", "vip", "is_shown", "is_degraded"),
    [(7, [7], True, False), (8, [7], False, False), (None, [7], False, False), (7, None, False, True)],
)
async def test_a_segment(number: int | None, vip: Sequence[int] | None, *, is_shown: bool, is_degraded: bool) -> None:
    index, book = OfferIndex(), CardBook([CARD])
    index.put(LUNCH, VIP)
    segments = {} if vip is None else {"vip": FrozenBitMap(vip)}
    qualifier = Qualifier(
        lambda: index,
        lambda: book,
        members=Numbered(number),
        segments=lambda: segments,
        facts=FactRegistry(),
        clock=FixedClock(NOW),
    )
    answer = await qualifier.qualify(Ask(CARD, [item(2000)], member_id="bob"))
    assert ([each.best is not None for each in answer.items], answer.reading.is_degraded) == ([is_shown], is_degraded)
