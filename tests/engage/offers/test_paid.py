"""A transaction that names a redemption is compared with it: the offer, the basket that was paid, and the points."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import pytest

from abacus.engage.offers.decide.paid import Paid, Recalled, comparisons, micros_text
from abacus.engage.offers.decide.reservation import Redemption
from tests.engage.offers.taken import NOW

ID: Final = UUID("03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35")
LINE: Final = {"id": "1", "price": "12.00"}
TEA: Final = {"id": "2", "price": "1.50", "quantity": 2}


@dataclass(frozen=True)
class Case:
    """What was redeemed and paid, and the comparisons that follow."""

    what: str
    expected: list[tuple[bool | None, str]]
    items: tuple[dict[str, Any], ...] = (LINE,)
    saves: int = 2_400_000
    saved: int | None = None  # with the others of the request, where there are some
    points: int = 0
    back: int = 0
    country: str = "SG"
    currency: str = "SGD"
    amount: str = "9.60"
    earned: int | None = None


OFF: Final = "lunch_20@1 took 2.40 SGD off"
PAID: Final = (True, "the basket came to 12.00, less 2.40; 9.60 SGD were paid")
GAVE: Final = f"lunch_20@1 gave 19 points besides, as redemption:{ID}"
WHOLE: Final = (True, "the basket came to 12.00, less 0.00; 12.00 SGD were paid")
CASES: Final = [
    Case("money off", [(True, OFF), PAID]),
    Case("written with fewer decimals", [(True, OFF), PAID], amount="9.6"),
    Case(
        "more was paid",
        [(True, OFF), (False, "the basket came to 12.00, less 2.40; 10.005 SGD were paid")],
        amount="10.005",
    ),
    Case(
        "two lines, and two offers that were held together",
        [(True, OFF), (True, "the basket came to 15.00, less 3.40; 11.60 SGD were paid")],
        items=(LINE, TEA),
        saved=3_400_000,
        amount="11.60",
    ),
    Case("a part was rolled back", [(True, f"{OFF}, of which 1.20 were rolled back"), PAID], back=1_200_000),
    Case("the member was erased", [(True, OFF), (None, "the basket is not kept any more")], items=()),
    Case("another country", [(False, f"{OFF}, in SG and SGD")], country="ID", currency="IDR"),
    Case("points besides", [(True, GAVE), WHOLE], saves=0, points=19, amount="12.00"),
    Case(
        "points by those of the purchase",
        [
            (True, GAVE),
            WHOLE,
            (True, "the offer's points were reckoned by 48 of the purchase, which earned 48"),
        ],
        saves=0,
        points=19,
        amount="12.00",
        earned=48,
    ),
    Case(
        "points by others, because the tier or the way of paying is another",
        [
            (True, GAVE),
            WHOLE,
            (False, "the offer's points were reckoned by 24 of the purchase, which earned 48"),
        ],
        saves=0,
        points=19,
        amount="12.00",
        earned=24,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_what_is_compared(case: Case) -> None:
    redemption = Redemption(
        member_id="bob",
        redemption_id=ID,
        reservation_key="reservation:shop:1:0",
        offer="lunch_20",
        version=1,
        country="SG",
        caller="partner:shop",
        items=json.dumps(case.items),
        currency="SGD",
        saves=case.saves,
        points=case.points,
        redeemed_at=NOW,
        saves_back=case.back,
    )
    recalled = Recalled(redemption, case.saves if case.saved is None else case.saved, case.earned)
    paid = Paid(ID, case.country, case.currency, Decimal(case.amount), 48)
    assert [tuple(each) for each in comparisons(paid, recalled)] == case.expected


@pytest.mark.parametrize(
    ("micros", "currency", "expected"),
    [
        (2_400_000, "SGD", "2.40"),
        (0, "SGD", "0.00"),
        (100_000_000, "SGD", "100.00"),
        (2_000_000, "JPY", "2"),
        (1_005_000, "SGD", "1.005"),
    ],
)
def test_money_has_the_decimals_of_its_currency(micros: int, currency: str, expected: str) -> None:
    assert micros_text(micros, currency) == expected
