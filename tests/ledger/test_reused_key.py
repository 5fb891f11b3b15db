"""The facts that differ from the first request of a key: one row a case."""

from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import orjson
import pytest

from abacus.core.points import Rounding
from abacus.ledger.decide.reused_key import Facts, differing, facts_of_award, reused_by
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Adjustment, Because, Movement, Release, Reserve, Reversal, Spend, Tender
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.card import OnShortfall
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import Calculated
from tests.ledger.ledgers import award
from tests.support.explanations import VERSION_0

NOW = datetime(2026, 11, 22, tzinfo=UTC)
DIGEST = "the first request differs in a fact of which only a digest is kept"
MEAL = Calculated(
    amount="15.00",
    currency="SGD",
    card="SG@7",
    factors=(("vertical", "food", "2"), ("eppf", "SG", "1"), ("cashless", "wallet", "2"), ("tier", "gold", "3")),
    product="180.00",
    rounding=Rounding.FLOOR,
    points=180,
)


def granted(points: int = 100, reason: str = "Hi", **changes: object) -> Facts:
    explanation = orjson.dumps({"v": 1, "granted_by": "acme", "reason": reason, "card": "SG@1", "points": points})
    return facts_of_award(award(points=points, explanation=explanation, **changes))


def calculated(**changes: object) -> Facts:
    explained = {name: getattr(MEAL, name) for name in MEAL.__slots__} | changes
    return facts_of_award(award(points=180, explanation=text_of(Calculated(**explained))))


AWARDS: list[tuple[Facts, Facts, str]] = [
    (granted(), granted(points=5), "points was 100, now it is 5"),
    (granted(), granted(reason="Ho"), "reason was 'Hi', now it is 'Ho'"),
    (granted(), granted(member_id="eve"), "member_id was 'bob', now it is 'eve'"),
    (granted(), granted(5, country="ID"), "country was 'SG', now it is 'ID'; points was 100, now it is 5"),
    (granted(), granted(), DIGEST),
    (calculated(), calculated(amount="15.0", points=90, card="SG@8"), DIGEST),
    (calculated(), calculated(amount="16"), "amount was 15.00, now it is 16"),
    (calculated(), calculated(currency="IDR"), "currency was 'SGD', now it is 'IDR'"),
    (calculated(), calculated(factors=MEAL.factors[:1]), "payment_type was 'wallet', now it is None"),
    (
        calculated(),
        granted(),
        "the first request was for an award for a transaction, this one is for an award of points",
    ),
    ({}, granted(), "it is the key of another request, whose facts are not at hand"),
]


@pytest.mark.parametrize(("first", "second", "told"), AWARDS)
def test_the_facts_of_an_award_that_differ(first: Facts, second: Facts, told: str) -> None:
    assert differing(first, second) == told


WHOSE = ("k", "bob", "GRP", "SG", "f")
SPEND = Spend(*WHOSE, points=80, reason="A coffee", actor="acme", source="partner:acme")
TENDER = Tender(Decimal("0.80"), "SGD", "SG@7")
HOLD = Reserve(*WHOSE, points=80, reason="A coffee", actor="acme", source="s", hold_id=UUID(int=1), until=NOW)
ADJUST = Adjustment(*WHOSE, -5, "A mistake", "ann", "person:ann", None, expires_on=date(2027, 1, 1), lifetime=False)
BACK = Reversal(
    *WHOSE,
    reverses="txn:rides:T-1001",
    part=None,
    on_shortfall=OnShortfall.CLIP,
    card="SG@7",
    reason="Booked twice",
    actor="acme",
    source="s",
    occurred_at=NOW,
    expires_on=date(2027, 1, 1),
    lifetime=False,
)
RELEASE = Release(*WHOSE, "acme", "s", UUID(int=1), Because.RELEASED)

MOVES: list[tuple[Movement, str, str]] = [
    (SPEND, "spent", DIGEST),
    (SPEND._replace(points=81), "spent", "points was 80, now it is 81"),
    (SPEND._replace(tender=TENDER), "spent", DIGEST),
    (SPEND._replace(reason="A lunch"), "spent at a till", DIGEST),
    (
        SPEND._replace(reason="A lunch", tender=TENDER._replace(money=Decimal("0.79"))),
        "spent at a till",
        "money was 0.80, now it is 0.79",
    ),
    (SPEND._replace(member_id="eve"), "spent", "member_id was 'bob', now it is 'eve'"),
    (SPEND, "held", "the first request was for a hold, this one is for a spend"),
    (HOLD, "held", DIGEST),
    (HOLD._replace(reason="Tea"), "held", "reason was 'A coffee', now it is 'Tea'"),
    (ADJUST, "adjusted without approval", DIGEST),
    (ADJUST._replace(points=-6), "adjusted without approval", "points was -5, now it is -6"),
    (BACK, "reversed", DIGEST),
    (BACK._replace(reverses="txn:rides:T-7"), "reversed", "transfer was 'txn:rides:T-1001', now it is 'txn:rides:T-7'"),
    (SPEND, "imported", "the first request was for another movement, this one is for a spend"),
    (SPEND, "granted", "the first request was for an award of points, this one is for a spend"),
    (RELEASE, "spent", "it is the key of another request, whose facts are not at hand"),
]


def posted(name: str) -> Transfer:
    text = VERSION_0[name]
    points = orjson.loads(text)["points"]
    row = (
        "bob",
        "GRP",
        1,
        TransferKind.SPEND,
        points,
        0,
        "k",
        "SG",
        NOW,
        NOW,
        None,
        text,
        None,
        "acme",
        None,
        None,
        None,
        None,
        2,
        b"",
    )
    return Transfer(*row)


@pytest.mark.parametrize(("movement", "first", "told"), MOVES)
def test_the_facts_of_a_movement_that_differ(movement: Movement, first: str, told: str) -> None:
    assert reused_by(movement, posted(first)) == told


@pytest.mark.parametrize("text", [b'{"v":9,"points":1}', b'{"granted_by":7}'])
def test_an_explanation_that_cannot_be_read_is_no_end(text: bytes) -> None:
    told = reused_by(SPEND, posted("spent")._replace(explanation=text))
    assert told == "the first request was for another movement, this one is for a spend"
