"""The scope of an offer as its document writes it, and what in it contradicts itself. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from abacus.core.fields import Bad, Fields, flag, quoted, shown, string
from abacus.engage.categories.decide.tree import Categories, read_category
from abacus.engage.offers.decide.offer import Scope, Values
from abacus.engage.offers.decide.publications import OfferPublications

MOST_VALUES: Final = 10_000  # of a kind
_LONGEST: Final = 128  # characters of a value
_EVERYTHING: Final = "everything"
_EXCEPT: Final = "except"
_WRITE: Final = f"write {_EVERYTHING} = true, or some of {', '.join(Values._fields)}"
_NOTHING: Final[frozenset[str]] = frozenset()
_NO_VALUES: Final = Values()
_LOCAL: Final = {"places": "place", "regions": "region"}


def read_scope(top: Fields, country: str, around: OfferPublications | None) -> Scope:
    """The scope. What it names is there: places and regions of the country, and its categories where it has published
    some. A scope that names places or regions and no items is for all items there.
    """
    table = top.table("scope")
    categories = None if around is None else around.categories.get(country)
    everything = table.read_if_there(_EVERYTHING, flag, default=False)
    values = _values(table, country, around)
    inner = table.table(_EXCEPT, optional=True)
    excepted = _values(inner, country, around)
    inner.refuse_unknown()
    table.refuse_unknown()
    if _EXCEPT in table.values and not inner.values and not inner.is_absent:
        table.note(_EXCEPT, f"empty; write some of {', '.join(Values._fields)}, or leave it out")
    named = [name for name in Values._fields if name in table.values and name not in _LOCAL]
    is_local = any(name in table.values for name in _LOCAL)
    if everything and named:
        table.note(_EVERYTHING, f"true beside {' and '.join(named)}; leave out the one or the other")
    elif table.values.get(_EVERYTHING, False) is False and not named and not is_local and not table.is_absent:
        top.note("scope", f"is for no item; {_WRITE}")
    else:
        _contradictions(inner, values, excepted, categories)
    return Scope(everything or (not named and is_local), values, excepted)


def named_spots(document: Mapping[str, object]) -> Mapping[str, Collection[str]]:
    """The texts that the scope of a document has as places and as regions, whatever else is wrong with it."""
    scope = document.get("scope")
    tables = [scope, scope.get(_EXCEPT)] if isinstance(scope, Mapping) else []
    return {name: {text for table in tables for text in _texts_of(table, name)} for name in _LOCAL}


def _texts_of(table: object, name: str) -> Iterator[str]:
    some = table.get(name) if isinstance(table, Mapping) else None
    return (each for each in some if isinstance(each, str)) if isinstance(some, list | tuple) else iter(())


def scope_document(scope: Scope) -> dict[str, object]:
    """As `read_scope` reads it."""
    document: dict[str, object] = {_EVERYTHING: True} if scope.everything else {}
    document |= _values_document(scope.values)
    excepted = _values_document(scope.excepted)
    return {**document, _EXCEPT: excepted} if excepted else document


def _values_document(values: Values) -> dict[str, object]:
    return {name: sorted(some) for name, some in values._asdict().items() if some}


def _values(table: Fields, country: str, around: OfferPublications | None) -> Values:
    if not table.values:
        return _NO_VALUES
    categories = None if around is None else around.categories.get(country)
    read_categories = _categories if categories is None else _array_of(_category_in(categories))
    there = {name: _texts if around is None else _array_of(_spot_in(around, name, country)) for name in _LOCAL}
    return Values(
        products=table.read_if_there("products", _texts, _NOTHING),
        merchants=table.read_if_there("merchants", _texts, _NOTHING),
        brands=table.read_if_there("brands", _texts, _NOTHING),
        categories=table.read_if_there("categories", read_categories, _NOTHING),
        **{name: table.read_if_there(name, read, _NOTHING) for name, read in there.items()},
    )


def _array_of(read: Callable[[object], str]) -> Callable[[object], frozenset[str]]:
    def array(value: object) -> frozenset[str]:
        if not isinstance(value, list | tuple):
            raise Bad(f'{shown(value)}; write an array, such as ["A-1", "A-2"]')
        if not 1 <= len(value) <= MOST_VALUES:
            raise Bad(f"{len(value)} values; write 1 to {MOST_VALUES:,}")
        return frozenset(map(read, value))

    return array


def _value(value: object) -> str:
    text = string(value)
    if not text.strip() or len(text) > _LONGEST:
        raise Bad(f"{quoted(text)} has {len(text)} characters; write 1 to {_LONGEST}")
    return text


def _category_in(categories: Categories) -> Callable[[object], str]:
    def read(value: object) -> str:
        name = read_category(value)
        categories.check(name)
        return name

    return read


def _spot_in(around: OfferPublications, name: str, country: str) -> Callable[[object], str]:
    countries, word = around.spots[name], _LOCAL[name]

    def read(value: object) -> str:
        text = _value(value)
        if text not in countries:
            raise Bad(f"there is no {word} {quoted(text)}")
        if countries[text] != country:
            raise Bad(f"the {word} {quoted(text)} is in {countries[text]}")
        return text

    return read


_texts: Final = _array_of(_value)
_categories: Final = _array_of(read_category)


def _contradictions(table: Fields, values: Values, excepted: Values, categories: Categories | None) -> None:
    """An offer is never for what it excepts, so a value that is named and excepted leaves the other in vain."""
    if excepted == _NO_VALUES:
        return
    above: Mapping[str, tuple[str, ...]] = {} if categories is None else categories.above
    for name in Values._fields:
        named, taken_out = getattr(values, name), getattr(excepted, name)
        for each in sorted(named & taken_out):
            table.note(name, f"{quoted(each)} is in the scope too: nothing is left of it")
    for each in sorted(values.categories - excepted.categories):
        for wide in excepted.categories.intersection(above.get(each, ())):
            table.note("categories", f"{quoted(wide)} has {quoted(each)} below it: nothing is left of that")
