"""The benefit of an offer as its document writes it: exactly one, and at most so much of it. Pure."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, Fields, flag, quoted
from abacus.core.points import MAX_POINTS, plain
from abacus.engage.offers.decide.figure_reader import money, percent, price
from abacus.engage.offers.decide.offer import Benefit, BenefitKind
from abacus.pricing.decide.figures import multiplier

_MOST_TIMES: Final = 1000
_NOTHING: Final = Decimal(0)
_whole_points: Final = fields.whole(1, MAX_POINTS)
_ALL: Final = tuple(BenefitKind)
_KINDS: Final = ", ".join(_ALL)


def read_benefit(top: Fields, decimals: int) -> Benefit:
    table = top.table("benefit")
    readers = _readers(decimals)
    there = [kind for kind, (name, _) in zip(_ALL, readers, strict=True) if name in table.values]
    figures = [table.read_if_there(name, read, _NOTHING) for name, read in readers]
    kind = there[0] if there else BenefitKind.PERCENT
    if not there and not table.is_absent:
        top.note("benefit", f"gives nothing; write one of {_KINDS}")
    for other in there[1:]:
        table.note(other, f"beside {kind}; an offer gives one of them")
    cap = table.read_if_there("cap", _points if kind.is_points else money(decimals), None)
    table.refuse_unknown()
    return Benefit(kind, figures[_ALL.index(kind)], cap)


def benefit_document(benefit: Benefit) -> dict[str, object]:
    """As `read_benefit` reads it."""
    kind, figure, cap = benefit
    written: object = plain(figure)
    if kind is BenefitKind.FREE_ITEM:
        written = True
    elif kind is BenefitKind.POINTS_PLUS:
        written = int(figure)
    document: dict[str, object] = {kind.value: written}
    if cap is not None:
        document["cap"] = int(cap) if kind.is_points else plain(cap)
    return document


def benefit_words(benefit: Benefit, currency: str) -> str:
    """What is given, as a list shows it."""
    kind, figure, cap = benefit
    words = {
        BenefitKind.PERCENT: f"{plain(figure)} % off",
        BenefitKind.AMOUNT_OFF: f"{plain(figure)} {currency} off",
        BenefitKind.FIXED_PRICE: f"{plain(figure)} {currency} a piece",
        BenefitKind.FREE_ITEM: "one piece free",
        BenefitKind.POINTS_TIMES: f"{plain(figure)} times the points",
        BenefitKind.POINTS_PLUS: f"{plain(figure)} points besides",
    }[kind]
    unit = "points" if kind.is_points else currency
    return words if cap is None else f"{words}, at most {plain(cap)} {unit}"


@lru_cache
def _readers(decimals: int) -> Sequence[tuple[str, Callable[[object], Decimal]]]:
    """For each kind, in their order."""
    readers = {
        BenefitKind.PERCENT: percent,
        BenefitKind.AMOUNT_OFF: money(decimals),
        BenefitKind.FIXED_PRICE: price(decimals),
        BenefitKind.FREE_ITEM: _free,
        BenefitKind.POINTS_TIMES: _times,
        BenefitKind.POINTS_PLUS: _points,
    }
    return [(kind.value, readers[kind]) for kind in _ALL]


def _free(value: object) -> Decimal:
    if not flag(value):
        raise Bad("false; write true, or leave it out")
    return Decimal(0)


def _times(value: object) -> Decimal:
    times = multiplier(value)
    if not 1 < times <= _MOST_TIMES:
        raise Bad(f"{quoted(str(value))}; write how many times the points are given, above 1 and up to {_MOST_TIMES}")
    return times


def _points(value: object) -> Decimal:
    return Decimal(_whole_points(value))
