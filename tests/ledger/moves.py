"""Movements of Bob's account for the tests of `MovesPort`, and the fate of each in one word."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias
from uuid import UUID

from abacus.core.ids import award_id
from abacus.core.sources import Agent, exchange_source
from abacus.ledger.decide.lapse import MonthEnd
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import (
    Adjustment,
    Because,
    Capture,
    Exchanged,
    Movement,
    Refund,
    Release,
    Reserve,
    Reversal,
    Spend,
    Tender,
)
from abacus.pricing.decide.card import OnShortfall
from abacus.pricing.explanation.text import text_of
from abacus.pricing.explanation.types import ExchangedIn
from tests.ledger.ledgers import NOW, award
from tests.life.ledgers import Living
from tests.support.explanations import calculated

BOB: Final = ("bob", "GRP")
FACTS: Final = "0" * 16
NOVEMBER: Final = MonthEnd("expiry:2026-11", date(2026, 11, 30), datetime.fromisoformat("2026-11-30T16:00:00Z"))

Orders: TypeAlias = Sequence[Award | Movement]
Batch: TypeAlias = Orders | MonthEnd


ACME = Agent("acme", "partner:acme")
SKYMILES: Final = exchange_source("skymiles")
MILES: Final = Exchanged(UUID(int=7), "skymiles@1", "skyways", 25, "miles", fee=10)


def earn(points: int, key: str = "txn:rides:1", **changes: Any) -> Award:
    """A transaction of as many dollars as points, good until the end of November."""
    return award(key=key, points=points, explanation=calculated(f"{points}.00", points), **changes)


def spend(points: int, key: str = "api:acme:1", member: str = "bob", facts: str = FACTS) -> Spend:
    return Spend(key, member, "GRP", "SG", facts, points, "a coffee", *ACME)


def lunch(price: str | None = "10.00") -> Spend:
    """40 points that paid 0.40, of a price."""
    tender = Tender(Decimal("0.40"), "SGD", "SG@1", None if price is None else Decimal(price))
    return spend(40)._replace(tender=tender)


def hold(points: int, name: str = "h", member: str = "bob", until: datetime | None = None) -> Reserve:
    key = f"api:acme:{name}"
    until = until or NOW + timedelta(days=1)
    return Reserve(key, member, "GRP", "SG", FACTS, points, "a table", *ACME, award_id(key), until)


def endless(points: int, name: str = "h", member: str = "bob") -> Reserve:
    """A hold that an exchange places."""
    return hold(points, name, member)._replace(until=None, source=SKYMILES)


def exchange_out(name: str = "h", **changes: Any) -> Capture:
    return capture(name=name, source=SKYMILES, exchanged=MILES, **changes)


def exchange_in(points: int, key: str = "exchange:skyways:1", card: str = "SG@1") -> Award:
    explanation = ExchangedIn(
        exchange=str(UUID(int=8)),
        programme="skymiles@1",
        partner="skyways",
        theirs=25,
        unit="miles",
        card=card,
        points=points,
    )
    return award(
        key=key,
        kind=TransferKind.EXCHANGE_IN,
        points=points,
        explanation=text_of(explanation),
        source=SKYMILES,
        activity=True,
    )


def capture(points: int | None = None, name: str = "h", **changes: Any) -> Capture:
    hold_id = award_id(f"api:acme:{name}")
    movement = Capture(f"capture:{hold_id}", *BOB, "SG", FACTS, points, *ACME, hold_id)
    return movement._replace(**changes)


def release(name: str = "h", because: Because = Because.RELEASED, **changes: Any) -> Release:
    hold_id = award_id(f"api:acme:{name}")
    return Release(f"release:{hold_id}", *BOB, "SG", FACTS, *ACME, hold_id, because)._replace(**changes)


def adjust(points: int, key: str = "adjust:1", **changes: Any) -> Adjustment:
    movement = Adjustment(
        key, *BOB, "SG", FACTS, points, "a mistake", "ann", "person:ann", None, NOVEMBER.last_day, lifetime=False
    )
    return movement._replace(**changes)


def reverse(of: str = "txn:rides:1", part: Refund | int | None = None, name: str = "r", **changes: Any) -> Reversal:
    movement = Reversal(
        *(f"api:acme:{name}", *BOB, "SG", FACTS, of, part, OnShortfall.NEGATIVE, "SG@1", None, None, "stream", NOW),
        expires_on=NOVEMBER.last_day,
        lifetime=False,
    )
    return movement._replace(**changes)


def refund(amount: str, name: str = "r", of: str = "txn:rides:1", currency: str = "SGD", **changes: Any) -> Reversal:
    return reverse(of, Refund(Decimal(amount), currency), name, **changes)


async def fates(ledger: Living, batch: Batch) -> list[str]:
    """Post and move the batch; the status of each award and movement, or the reason of a refused one."""
    if isinstance(batch, MonthEnd):
        await ledger.lapse(BOB, batch)
        return []
    awards, movements = parted(batch)
    outcomes = [*(await ledger.post(awards) if awards else ()), *(await ledger.move(movements) if movements else ())]
    return [each.status.value if each.fault is None else each.fault.reason.value for each in outcomes]


def parted(orders: Orders) -> tuple[list[Award], list[Movement]]:
    """Awards, which are posted, and movements, which are moved."""
    awards = [each for each in orders if isinstance(each, Award)]
    return awards, [each for each in orders if not isinstance(each, Award)]
