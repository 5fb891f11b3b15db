"""A partner hears that another transaction named a redemption before, and its key where it may see that."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

import pytest

from abacus.api.answers import awarded
from abacus.core.ids import award_id
from abacus.engage.offers.decide.paid import Paid, Recalled
from abacus.engage.offers.decide.reservation import Redemption
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.register import AwardState, AwardStatus
from abacus.oversight.redeemed.decide.named import Named
from tests.support.awards import award

NOW: Final = datetime(2026, 3, 2, 4, tzinfo=UTC)
ID: Final = UUID("03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35")
ACME: Final = Partner("acme", "Acme", True, True, (), None, 60, None, NOW, "ann", None)  # noqa: FBT003  # columns
OFFER: Final = Redemption(
    member_id="bob",
    redemption_id=ID,
    reservation_key="reservation:shop:1:0",
    offer="lunch_20",
    version=1,
    country="SG",
    caller="partner:shop",
    items=json.dumps([{"id": "1", "price": "12.00"}]),
    currency="SGD",
    saves=2_400_000,
    points=0,
    redeemed_at=NOW,
)


@pytest.mark.parametrize(
    ("partner", "first", "told"),
    [
        (ACME, "api:acme:1", "api:acme:1"),
        (ACME, "api:mart:1", "another transaction"),
        (ACME, "txn:rides:T-1", "another transaction"),
        (ACME._replace(may_see_others=True), "txn:rides:T-1", "txn:rides:T-1"),
    ],
)
def test_the_key_of_another_caller_is_not_told(partner: Partner, first: str, told: str) -> None:
    key = "api:acme:2"
    state = AwardState(award_id(key), "acme", award(key=key), AwardStatus.POSTED, NOW)
    paid = Paid(ID, "SG", "SGD", Decimal("9.60"), 48)
    answer = awarded(state, partner, Named(paid, Recalled(OFFER, OFFER.saves), first))
    assert answer["redeemed"]["faults"] == [f"{told} named this redemption before"]
