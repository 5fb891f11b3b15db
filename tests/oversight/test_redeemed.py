"""A transaction that names a redemption: each gives its own points once and takes them back once, and whoever explains
the transaction or reconciles its window is told where the two do not agree, and where two name one.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import pytest

from abacus.engage.offers.decide.offer import Benefit, BenefitKind
from abacus.engage.offers.decide.redemption_points import Redeemed, points_given, points_taken_back
from abacus.engage.offers.decide.reservation import Gain, redemption_id
from abacus.engage.offers.decide.settlement import RollingBack
from abacus.engage.rewards.decide.price import Locked
from abacus.intake.earning.decide.calculate import Calculator, reversal_of
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.award_envelope import Award, decode_envelope
from abacus.ledger.types.port import Status
from abacus.ledger.types.reversal_message import decode_reversal
from abacus.oversight.reconcile.redeemed import redeemed_otherwise
from abacus.oversight.redeemed.decide.named import Named
from abacus.oversight.redeemed.reader import RedeemedReader
from abacus.platform.postgres import Pool, snapshot
from abacus.pricing.decide.book import CardBook
from tests.engage.offers.taken import CARD, NOW, desk, held, lunch, redeeming, wish
from tests.support.cards import REFUND, read
from tests.support.cards import lunch as bought
from tests.support.fixed_clock import FixedClock
from tests.support.rewards import Counter, give_points, load_codes, reward
from tests.support.slices import neighbour

ANN: Final = neighbour("ann")
EVE: Final = neighbour("eve")
TRIPLE: Final = lunch(name="triple", benefit=Benefit(BenefitKind.POINTS_TIMES, Decimal(3)))
GAIN: Final = Gain("SGD", 0, 168)
DAY: Final = timedelta(days=1)
KEY: Final = "txn:rides:T-1001"
CALCULATOR: Final = Calculator(CardBook([CARD]))


def transaction(redemption: str, amount: str = "21.00", **fields: str) -> Award:
    paid = bought(member_id=ANN, amount=amount, redemption_id=redemption, occurred_at=NOW.isoformat(), **fields)
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
    ledger, awards = PostgresLedger(pool, FixedClock(NOW)), decode_envelope(b'{"v":1,"awards":[%b]}' % document).awards
    for _ in range(2):  # the second is a redelivery
        await ledger.post(awards)
    return id_


async def balance(pool: Pool) -> int:
    (account,) = await LedgerReader(pool).accounts(ANN)
    return account.balance


async def faults(pool: Pool, start: datetime = NOW - DAY) -> list[str]:
    async with snapshot(pool) as connection:
        return [each.where for each in await redeemed_otherwise(connection, start, NOW + 9 * DAY)]


async def named(pool: Pool) -> Mapping[str, Named]:
    """What the member's transactions name, by their keys."""
    return await RedeemedReader(pool).of(ANN, await LedgerReader(pool).history(ANN, {"GRP": 9}, 9))


async def explained(pool: Pool) -> dict[str, dict[str, Any]]:
    """What is told of them."""
    return {key: each.document for key, each in (await named(pool)).items()}


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
    id_, ledger = await redeemed(pool), PostgresLedger(pool, FixedClock(NOW))
    for _ in range(2):  # the second is a redelivery
        await ledger.post([transaction(str(id_), amount)])
    assert await balance(pool) == 168 + int(Decimal(amount) * 4)
    told = {"redemption_id": str(id_), "offer": "triple", "version": 1, "saves": "0.00", "points": 168}
    assert await explained(pool) == {KEY: {**told, "faults": expected}}
    assert await RedeemedReader(pool).of(ANN, [transaction(str(id_), amount)]) == await named(pool)
    assert await faults(pool) == [f"{ANN}: {each}" for each in expected]


async def test_a_redemption_of_another_member_is_none(pool: Pool) -> None:
    id_ = await redeemed(pool)
    other = transaction(str(id_))._replace(member_id=EVE)
    await PostgresLedger(pool, FixedClock(NOW)).post([other])
    fault = f"neither an offer nor a reward was redeemed for the member as {id_}"
    assert await faults(pool) == [f"{other.member_id}: {fault}"]


async def test_the_second_transaction_that_names_a_redemption_is_told(pool: Pool) -> None:
    """Each is paid by its own amount, the points of the offer once. Nothing is told of the first; a redelivery is not
    another transaction. A window that begins after the first tells of the second all the same.
    """
    id_ = await redeemed(pool)
    for days, number in ((0, 1), (2, 2), (2, 1), (3, 3)):
        ledger = PostgresLedger(pool, FixedClock(NOW + days * DAY))
        await ledger.post([transaction(str(id_), transaction_id=f"T-100{number}")])
    assert await balance(pool) == 168 + 3 * 84
    fault = f"{KEY} named this redemption before"
    told = {key: each["faults"] for key, each in (await explained(pool)).items()}
    assert told == {KEY: [], "txn:rides:T-1002": [fault], "txn:rides:T-1003": [fault]}
    assert await faults(pool) == await faults(pool, NOW + DAY) == [f"{ANN}: {fault}"] * 2


async def test_a_transaction_that_names_a_reward_is_told_as_that(pool: Pool) -> None:
    """A second one is told too, and so is one that names what was refused."""
    await load_codes(pool, ["KOPI-1"])
    await give_points(pool, [ANN], 1_200)
    shop = Counter(pool, [reward()])
    given = await shop.redeem("1", ANN)
    with pytest.raises(Locked):
        await shop.redeem("2", ANN)
    refused = await shop.desk.of_key("api:shop:2")
    assert refused is not None
    for number, each in enumerate((given, given, refused), 1):
        await PostgresLedger(pool, FixedClock(NOW)).post(
            [transaction(str(each.redemption_id), transaction_id=f"T-100{number}")]
        )
    told = {"reward": "coffee", "version": 1, "quantity": 1, "points": 500}
    second, none = f"{KEY} named this redemption before", "the reward coffee@1, 1 piece for 500 points, is refused"
    assert await explained(pool) == {
        KEY: {"redemption_id": str(given.redemption_id), **told, "faults": []},
        "txn:rides:T-1002": {"redemption_id": str(given.redemption_id), **told, "faults": [second]},
        "txn:rides:T-1003": {"redemption_id": str(refused.redemption_id), **told, "faults": [none]},
    }
    assert sorted(await faults(pool)) == sorted([f"{ANN}: {second}", f"{ANN}: {none}"])


async def test_a_reward_of_another_member_is_none(pool: Pool) -> None:
    await load_codes(pool, ["KOPI-1"])
    await give_points(pool, [EVE], 500)
    given = await Counter(pool, [reward()]).redeem("1", EVE)
    await PostgresLedger(pool, FixedClock(NOW)).post([transaction(str(given.redemption_id))])
    fault = f"neither an offer nor a reward was redeemed for the member as {given.redemption_id}"
    assert await explained(pool) == {KEY: {"redemption_id": str(given.redemption_id), "faults": [fault]}}
    assert await faults(pool) == [f"{ANN}: {fault}"]


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
