"""An award recomputed from its own explanation and the card version that this names. Pure."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

import orjson

from abacus.core.errors import AbacusError
from abacus.core.points import EXACT, ROUND, money, plain
from abacus.ledger.types.award import Kind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import RateCard
from abacus.pricing.decide.formula import factors_of

_A_DAY: Final = timedelta(days=1)  # no country's day is further from UTC's


def recompute(transfer: Transfer, book: CardBook) -> str | None:
    """What is wrong with the transfer's explanation, or nothing."""
    try:
        explanation: dict[str, Any] = orjson.loads(transfer.explanation)
        faults = _faults(explanation, transfer, book)
    except (AbacusError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        return f"the explanation cannot be recomputed: {type(error).__name__}: {error}"
    if explanation.get("points") != transfer.points:
        faults.append(f"explains {explanation.get('points')} points, the transfer has {transfer.points}")
    return f"the explanation does not hold: {'; '.join(faults)}" if faults else None


def _faults(explanation: dict[str, Any], transfer: Transfer, book: CardBook) -> list[str]:
    match transfer.kind:
        case Kind.EXPIRE:
            return _lapsed(explanation, transfer)
        case Kind.REVERSE:
            return _taken_back(explanation, transfer)
        case Kind.HOLD | Kind.RELEASE | Kind.SPEND | Kind.ADJUST:
            return _moved(explanation, transfer)
        case _:
            return _earned(explanation, book)


def _earned(explanation: dict[str, Any], book: CardBook) -> list[str]:
    card = book.by_name(explanation["card"]).card
    if "granted_by" in explanation:
        return []  # a partner named the points; there is nothing to multiply
    return _fixed(explanation, card) if "fixed" in explanation else _calculated(explanation, card)


def _lapsed(explanation: dict[str, Any], transfer: Transfer) -> list[str]:
    """What was available has to be gone, on a day after the last on which it was good."""
    faults: list[str] = []
    balance, held = explanation["balance"], explanation["held"]
    lots = explanation.get("lots")  # of an account that goes by them, not all need lapse
    gone = balance - held if lots is None else sum(points for _, points in lots)
    if balance != transfer.balance_after - transfer.points or gone != -transfer.points or gone > balance - held:
        faults.append(f"of {balance} points {held} are held, so {-transfer.points} may not lapse")
    if date.fromisoformat(explanation["expired_on"]) >= transfer.posted_at.date() + _A_DAY:
        faults.append(f"good until {explanation['expired_on']}, but gone on {transfer.posted_at.date()}")
    return faults


def _taken_back(explanation: dict[str, Any], transfer: Transfer) -> list[str]:
    """What was due is gone now, lapsed before, or let go; and the refund's share is not more than was earned."""
    faults: list[str] = []
    if explanation["of"] != transfer.reverses:
        faults.append(f"explains the reversal of {explanation['of']}, the transfer is one of {transfer.reverses}")
    due, earned = explanation["due"], explanation["earned"]
    if earned < 0:  # a spend that is given back
        if transfer.points != due:
            faults.append(f"{due} points are due, {transfer.points} came back")
    elif transfer.points != explanation["expired"] + explanation["clipped"] - due:
        faults.append(f"{due} points are due, of which {explanation['expired']} had lapsed")
    if not 0 <= due <= abs(earned):
        faults.append(f"{due} points are due of {earned}")
    return faults


def _moved(explanation: dict[str, Any], transfer: Transfer) -> list[str]:
    """A hold holds, a release lets go, and neither moves points; what is spent is there."""
    faults: list[str] = []
    held = explanation.get("held", 0)
    if transfer.kind in {Kind.HOLD, Kind.RELEASE} and transfer.points:
        faults.append(f"a {transfer.kind} moves no points, this one {transfer.points}")
    if (transfer.kind == Kind.HOLD) != (held > 0):
        faults.append(f"a {transfer.kind} may not hold {held} more")
    if transfer.kind == Kind.SPEND and transfer.points > 0:
        faults.append(f"a spend takes points, this one brings {transfer.points}")
    if explanation.get("available", 0) < 0 and transfer.points < 0 and not held:
        faults.append(f"{explanation['available']} points are left available after it")
    if transfer.kind == Kind.ADJUST and transfer.actor not in {
        explanation["by"],
        f"import:{explanation.get('import')}",
    }:
        faults.append(f"explains that {explanation['by']} adjusted, the transfer is by {transfer.actor}")
    return faults


def _fixed(explanation: dict[str, Any], card: RateCard) -> list[str]:
    on_card = card.fixed_awards.get(explanation["fixed"])
    if on_card != explanation["points"]:
        return [f"{explanation['fixed']} is worth {on_card} on {explanation['card']}, not {explanation['points']}"]
    return []


def _calculated(explanation: dict[str, Any], card: RateCard) -> list[str]:
    recorded = [tuple(factor) for factor in explanation["factors"]]
    names = {kind: name for kind, name, _ in recorded}
    factors = factors_of(card, names["vertical"], names["cashless"], names["tier"])
    product: Decimal = money(explanation["amount"])
    for _, _, value in factors:
        product = EXACT.multiply(product, Decimal(value))
    expected = {
        "factors": list(factors),
        "product": plain(product),
        "rounding": str(card.rounding),
        "currency": card.currency,
        "points": ROUND[card.rounding](product),
    }
    found = {**explanation, "factors": recorded}
    return [f"{name} is {found.get(name)}, not {value}" for name, value in expected.items() if found.get(name) != value]
