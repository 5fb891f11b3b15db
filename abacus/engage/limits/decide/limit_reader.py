"""Limits as documents write them. Pure."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from abacus.core import fields
from abacus.core.fields import Bad, Fields, quoted, string
from abacus.core.points import plain
from abacus.engage.limits.types import MICROS, UNBOUND, Bound, Limits, Scope
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.figures import multiplier

_MOST: Final = 10**15
_NOTHING: Final = Decimal(0)
_DECIMALS: Final = 6  # of money that is counted in millionths
_SCOPES: Final = ("overall", "day", "member", "member_day")  # as `Limits` has them; scopes have a slower hash
_NONE: Final = (None,) * len(_SCOPES)
_most: Final = fields.whole(1, _MOST)


class LimitWords(NamedTuple):
    """How the documents of a kind call what is limited. What has no word is not limited. Where points have one, the
    money is what they cost.
    """

    runs: str
    money: str = ""
    points: str | None = None

    @property
    def all(self) -> list[str]:
        return [each for each in (self.runs, self.points, self.money) if each]

    @property
    def remedy(self) -> str:
        *others, last = self.all
        several = f"{', '.join(others)} or {last}" if others else last
        return f"write limits of {several}, or unlimited = true"


def read_limits(
    table: Fields, words: LimitWords, card: PublishedCard | None = None, *, decimals: int = _DECIMALS
) -> Limits:
    """The limits. A document names one at least, or says that it wants none. Money has at most `decimals` decimals."""
    if table.read_if_there("unlimited", fields.flag, default=False):
        if limited := [name for name in words.all if name in table.values]:
            table.note("unlimited", f"true beside {' and '.join(limited)}; leave out the one or the other")
        for name in limited:
            table.read(name, lambda value: value, None)
        table.refuse_unknown()
        return Limits()
    runs = _scopes(table, words.runs)
    points = _NONE if words.points is None else _scopes(table, words.points)
    money, cost = _money(table, words, card, decimals)
    if table.values.get("unlimited") is False and not any(name in table.values for name in words.all):
        table.note("unlimited", f"false, and no limit; {words.remedy}")
    elif not table.values and not table.is_absent:
        table.note(words.runs, f"no limit; {words.remedy}")
    table.refuse_unknown()
    overall, day, member, member_day = map(_bound, runs, points, money)
    return Limits(overall, day, member, member_day, cost)


def _bound(*most: int | None) -> Bound:
    bound = Bound(*most)
    return UNBOUND if bound == UNBOUND else bound  # of which most limits have three


def limits_document(limits: Limits, words: LimitWords) -> dict[str, object]:
    """As `read_limits` reads them."""
    document: dict[str, object] = {}
    for place, name in enumerate((words.runs, words.points)):
        values = {scope.value: limits.of(scope)[place] for scope in Scope if limits.of(scope)[place] is not None}
        if values and name is not None:
            document[name] = values
    money = {scope.value: _text(cost) for scope in Scope if (cost := limits.of(scope).cost) is not None}
    if money and words.money:
        document[words.money] = money if words.points is None else {**money, **_cost_of_point(limits)}
    return document or {"unlimited": True}


def _cost_of_point(limits: Limits) -> Mapping[str, str]:
    return {"cost_of_point": plain(limits.cost_of_point)}


def _scopes(table: Fields, name: str) -> Sequence[int | None]:
    """The most in each scope."""
    inner = table.table(name, optional=True)
    if name not in table.values:
        return _NONE
    read = [inner.read_if_there(scope, _most, None) for scope in _SCOPES]
    if not inner.values:
        table.note(name, f"empty; write at least one of {', '.join(_SCOPES)}")
    inner.refuse_unknown()
    return read


def _money(
    table: Fields, words: LimitWords, card: PublishedCard | None, decimals: int
) -> tuple[Sequence[int | None], Decimal]:
    """The most money in each scope, in millionths, and what a point costs."""
    if not words.money:
        return _NONE, _NOTHING
    inner = table.table(words.money, optional=True)
    if words.money not in table.values:
        return _NONE, _NOTHING

    def micros(value: object) -> int:
        amount = multiplier(value)
        if amount <= 0 or amount != round(amount, decimals) or amount > _MOST:
            raise Bad(f"{quoted(str(value))}; write an amount of money above 0 with at most {decimals} decimals")
        return int(amount * MICROS)

    read = [inner.read_if_there(scope, micros, None) for scope in _SCOPES]
    cost = _NOTHING if words.points is None else _cost(inner, card)
    if not any(scope in inner.values for scope in _SCOPES):
        inner.note(Scope.OVERALL.value, f"no {words.money}; write at least one of {', '.join(_SCOPES)}")
    inner.refuse_unknown()
    return read, cost


def _cost(inner: Fields, card: PublishedCard | None) -> Decimal:
    """What a point costs, of the program and in the currency that the card has."""
    cost = inner.read("cost_of_point", _price, Decimal(0))
    program = inner.read_if_there("program", string, None)
    currency = inner.read_if_there("currency", string, None)
    if card is not None:
        if program is not None and program != card.card.program:
            inner.note("program", f"{quoted(program)}, but {card.card.scope} awards {card.card.program}")
        if currency is not None and currency != card.card.currency:
            inner.note("currency", f"{quoted(currency)}, but the card of {card.card.scope} is in {card.card.currency}")
    return cost


def _price(value: object) -> Decimal:
    price = multiplier(value)
    if price <= 0:
        raise Bad(f"{quoted(str(value))}; write what a point costs, more than 0")
    return price


def _text(micros: int) -> str:
    return plain(Decimal(micros).scaleb(-_DECIMALS).normalize() + 0)
