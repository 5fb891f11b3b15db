"""How SQL reads a stored explanation: a field by its name, a factor by its name. Pure: text only."""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias, get_args

from abacus.pricing.explanation.types import VERSION, FactorName

# The fields that statements read.
TextField: TypeAlias = Literal["spent_by", "lots", "granted_by", "transaction", "campaign", "redemption"]
NumberField: TypeAlias = Literal["held", "lots_closed", "lots_drawn", "due"]

_USUAL_PLACES: Final = get_args(FactorName)
_MOST_FACTORS: Final = 8

# The fields of an award's explanation that a backtest needs, as a record `e`. An array of other than texts raises.
FACTS: Final = """json_to_record(t.explanation) as e (
            v int, amount numeric, currency text, card text, factors text[], fixed text, granted_by text,
            campaign text
        )"""
FACTS_ARE_KNOWN: Final = f"coalesce(e.v, 0) <= {VERSION}"


def text(field: TextField, row: str = "t") -> str:
    """A field of a transfer's explanation; null where it has no such field."""
    return f"{row}.explanation ->> '{field}'"


def number(field: NumberField, row: str) -> str:
    """A whole number of a transfer's explanation; null where it has no such field."""
    return f"({row}.explanation ->> '{field}')::bigint"


def factor(name: FactorName) -> str:
    """Which entry of the card a factor of a transfer was; null where its explanation lists no such factor."""
    return _by_name(name, lambda place, part: f"t.explanation #>> '{{factors,{place},{part}}}'")


def factor_of_facts(name: FactorName) -> str:
    """The same of `FACTS`."""
    return _by_name(name, lambda place, part: f"e.factors[{place + 1}][{part + 1}]")


def _by_name(name: FactorName, at: Callable[[int, int], str]) -> str:
    """The place where a factor usually stands is looked at first, which is far quicker than taking the list apart."""
    usual = _USUAL_PLACES.index(name)
    places = [usual, *(place for place in range(_MOST_FACTORS) if place != usual)]
    return f"case '{name}' {' '.join(f'when {at(place, 0)} then {at(place, 1)}' for place in places)} end"
