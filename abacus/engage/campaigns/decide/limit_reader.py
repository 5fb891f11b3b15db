"""The limits of a campaign as its document writes them. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, Fields, quoted, string
from abacus.core.points import plain
from abacus.engage.limits.types import MICROS, Bound, Limits, Scope
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.figures import multiplier

_MOST: Final = 10**15
_RUNS: Final = "runs"
_POINTS: Final = "points"
_BUDGET: Final = "budget"
_LIMITED: Final = (_RUNS, _POINTS, _BUDGET)
_WRITE: Final = "write limits of runs, points or budget, or unlimited = true"
_FEWEST_DECIMALS: Final = -6


def read_limits(table: Fields, card: PublishedCard | None) -> Limits:
    """The limits; a document has to name one, or to say that it wants none."""
    if table.read_if_there("unlimited", fields.flag, default=False):
        if limited := [name for name in _LIMITED if name in table.values]:
            table.note("unlimited", f"true beside {' and '.join(limited)}; leave out the one or the other")
        for name in limited:
            table.read(name, lambda value: value, None)
        table.refuse_unknown()
        return Limits()
    amounts = {name: _scopes(table, name) for name in (_RUNS, _POINTS)}
    budget, cost = _budget(table, card)
    if table.values.get("unlimited") is False and not any(name in table.values for name in _LIMITED):
        table.note("unlimited", f"false, and no limit; {_WRITE}")
    elif not table.values and not table.is_absent:
        table.note("runs", f"no limit; {_WRITE}")
    table.refuse_unknown()
    bounds = {
        scope: Bound(amounts[_RUNS].get(scope), amounts[_POINTS].get(scope), budget.get(scope)) for scope in Scope
    }
    return Limits(
        bounds[Scope.OVERALL], bounds[Scope.DAY], bounds[Scope.MEMBER], bounds[Scope.MEMBER_DAY], cost_of_point=cost
    )


def limits_document(limits: Limits) -> dict[str, object]:
    """As `read_limits` reads them."""
    document: dict[str, object] = {}
    for place, name in enumerate((_RUNS, _POINTS)):
        if values := {scope.value: limits.of(scope)[place] for scope in Scope if limits.of(scope)[place] is not None}:
            document[name] = values
    if money := {scope.value: _money(cost) for scope in Scope if (cost := limits.of(scope).cost) is not None}:
        document[_BUDGET] = {**money, "cost_of_point": plain(limits.cost_of_point)}
    return document or {"unlimited": True}


def _scopes(table: Fields, name: str) -> Mapping[Scope, int]:
    inner = table.table(name, optional=True)
    if name not in table.values:
        return {}
    read = {scope: inner.read_if_there(scope.value, fields.whole(1, _MOST), 0) for scope in Scope}
    if not inner.values:
        table.note(name, f"empty; write at least one of {', '.join(Scope)}")
    inner.refuse_unknown()
    return {scope: most for scope, most in read.items() if most}


def _budget(table: Fields, card: PublishedCard | None) -> tuple[Mapping[Scope, int], Decimal]:
    """The most money in each scope, in millionths, and what a point costs."""
    inner = table.table(_BUDGET, optional=True)
    if _BUDGET not in table.values:
        return {}, Decimal(0)
    read = {scope: inner.read_if_there(scope.value, _micros, 0) for scope in Scope}
    cost = inner.read("cost_of_point", _price, Decimal(0))
    program = inner.read_if_there("program", string, None)
    currency = inner.read_if_there("currency", string, None)
    if card is not None:
        if program is not None and program != card.card.program:
            inner.note("program", f"{quoted(program)}, but {card.card.scope} awards {card.card.program}")
        if currency is not None and currency != card.card.currency:
            inner.note("currency", f"{quoted(currency)}, but the card of {card.card.scope} is in {card.card.currency}")
    if not any(scope.value in inner.values for scope in Scope):
        inner.note(Scope.OVERALL.value, f"no budget; write at least one of {', '.join(Scope)}")
    inner.refuse_unknown()
    return {scope: most for scope, most in read.items() if most}, cost


def _price(value: object) -> Decimal:
    price = multiplier(value)
    if price <= 0:
        raise Bad(f"{quoted(str(value))}; write what a point costs, more than 0")
    return price


def _micros(value: object) -> int:
    amount = multiplier(value)
    micros = amount * MICROS
    if amount <= 0 or micros != int(micros) or micros > _MOST * MICROS:
        raise Bad(f"{quoted(str(value))}; write an amount of money above 0 with at most {-_FEWEST_DECIMALS} decimals")
    return int(micros)


def _money(micros: int) -> str:
    return plain(Decimal(micros).scaleb(_FEWEST_DECIMALS).normalize() + 0)
