"""A transaction that names a redemption: each gives its own points once and takes them back once, and whoever explains
the transaction or reconciles its window is told where the two do not agree.
"""

from datetime import timedelta
from decimal import Decimal
from typing import Final
from uuid import UUID

import pytest

from abacus.engage.offers.decide.offer import Benefit, BenefitKind
from abacus.engage.offers.decide.redemption_points import Redeemed, points_given, points_taken_back
from abacus.engage.offers.decide.reservation import Gain, redemption_id
from abacus.engage.offers.decide.settlement import RollingBack
from abacus.intake.earning.decide.calculate import Calculator, reversal_of
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import Award, decode_envelope
from abacus.ledger.types.port import Status
from abacus.ledger.types.reversal_message import decode_reversal
from abacus.oversight.life.redeemed import RedeemedReader
from abacus.oversight.reconcile.redeemed import redeemed_otherwise
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.book import CardBook
from tests.engage.offers.taken import CARD, NOW, desk, held, lunch, redeeming, wish
from tests.support.cards import REFUND, read
from tests.support.cards import lunch as bought
from tests.support.fixed_clock import FixedClock
from tests.support.slices import neighbour

ANN: Final = neighbour("ann")
TRIPLE: Final = lunch(name="triple", benefit=Benefit(BenefitKind.POINTS_TIMES, Decimal(3)))
GAIN: Final = Gain("SGD", 0, 168)
DAY: Final = timedelta(days=1)
KEY: Final = "txn:rides:T-1001"
CALCULATOR: Final = Calculator(CardBook([CARD]))


def transaction(redemption: str, amount: str = "21.00") -> Award:
    paid = bought(member_id=ANN, amount=amount, redemption_id=redemption, occurred_at=NOW.isoformat())
    award = CALCULATOR.award(paid, CARD, "member")
    assert award is not None
    return award


async def redeemed(pool: Pool) -> UUID:
    """An offer of three times the points of 21 dollars; its points are awarded too."""
    taking = desk(pool, FixedClock(NOW))
    of = await held(taking, wish(member_id=ANN, offer=TRIPLE, gain=GAIN))
    await taking.redemptions.settle(redeeming(of, TRIPLE, GAIN))
    id_ = redemption_id(of.reservation_id)
    document = points_given(Redeemed(TRIPLE, CARD, id_, ANN, NOW), 168, 84).document
    await PostgresLedger(pool, FixedClock(NOW)).post(decode_envelope(b'{"v":1,"awards":[%b]}' % document).awards)
    return id_


async def balance(pool: Pool) -> int:
    (account,) = await LedgerReader(pool).accounts(ANN)
    return account.balance


async def faults(pool: Pool) -> list[str]:
    async with snapshot(pool) as connection:
        return [each.where for each in await redeemed_otherwise(connection, NOW - DAY, NOW + DAY)]


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("21.00", []),
        (
            "20.00",
            [
                "the basket came to 21.00, less 0.00; 20.00 SGD were paid",
                "the offer's points were reckoned by 84 of the purchase, which earned 80",
            ],
        ),
    ],
)
async def test_transaction_and_redemption_are_compared(pool: Pool, amount: str, expected: list[str]) -> None:
    id_, ledger, reader = await redeemed(pool), PostgresLedger(pool, FixedClock(NOW)), LedgerReader(pool)
    for _ in range(2):  # the second is a redelivery
        await ledger.post([transaction(str(id_), amount)])
    assert await balance(pool) == 168 + int(Decimal(amount) * 4)
    transfers = await reader.history(ANN, {"GRP": 9}, 9)
    found = await RedeemedReader(pool).of(ANN, transfers)
    assert list(found) == [KEY]
    assert await RedeemedReader(pool).of(ANN, [transaction(str(id_), amount)]) == found
    assert found[KEY].document == {
        "redemption_id": str(id_),
        "offer": "triple",
        "version": 1,
        "saves": "0.00",
        "points": 168,
        "faults": expected,
    }
    assert await faults(pool) == [f"{ANN}: {each}" for each in expected]


async def test_a_redemption_of_another_member_is_none(pool: Pool) -> None:
    id_ = await redeemed(pool)
    other = transaction(str(id_))._replace(member_id=neighbour("eve"))
    await PostgresLedger(pool, FixedClock(NOW)).post([other])
    assert await faults(pool) == [f"{other.member_id}: no offer was redeemed for the member as {id_}"]


async def test_a_refund_and_a_rollback_take_back_what_is_theirs_once(pool: Pool) -> None:
    id_, clock = await redeemed(pool), FixedClock(NOW)
    moves, taking = PostgresMoves(pool, clock), desk(pool, clock)
    await PostgresLedger(pool, clock).post([transaction(str(id_))])
    refund = read(REFUND | {"member_id": ANN, "amount": "21.00", "occurred_at": NOW.isoformat()})
    claim = await LedgerReader(pool).claim(KEY)
    assert claim is not None
    refunded = reversal_of(refund, claim, CARD)  # type: ignore[arg-type]  # it is a refund
    assert [(await moves.move([refunded]))[0].status for _ in range(2)] == [Status.POSTED, Status.DUPLICATE]
    assert await balance(pool) == 168
    redemption = await taking.redemptions.redeemed(id_, "partner:shop")
    after = await taking.redemptions.roll_back(RollingBack(id_, "partner:shop", "r", None, CARD))
    assert after.points_back == 168
    back = decode_reversal(points_taken_back(redemption, CARD, NOW, NOW).document)
    assert [(await moves.move([back]))[0].status for _ in range(2)] == [Status.POSTED, Status.DUPLICATE]
    assert await balance(pool) == 0
