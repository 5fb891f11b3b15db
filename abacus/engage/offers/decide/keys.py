"""The keys under which offers lie and items find them: a product, a place, a merchant, a brand, a region, a category,
and all. Pure.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Scope, Values

# A word for the kind of value, and the value.
Key: TypeAlias = tuple[str, str]

_KINDS: Final = ("product", "merchant", "brand", "category", "place", "region")  # as `Values` has them
_EVERYTHING: Final[Key] = ("all", "")


def keys_of(item: Item) -> tuple[Key, ...]:
    """The keys of an item, from the narrowest to the widest."""
    categories = [("category", each) for each in reversed(item.categories)]
    if item.place is not None:
        return (
            ("product", item.product),
            ("place", item.place),
            ("merchant", item.merchant),
            ("brand", item.brand),
            *[("region", each) for each in item.regions],
            *categories,
            _EVERYTHING,
        )
    return (
        ("product", item.product),
        ("merchant", item.merchant),
        ("brand", item.brand),
        *categories,
        _EVERYTHING,
    )


def keys_of_scope(scope: Scope) -> Iterator[Key]:
    """Those of places and regions where it names some, of which an item has the fewest offers."""
    if scope.is_local:
        yield from keys_of_values(Values(places=scope.values.places, regions=scope.values.regions))
    elif scope.everything:
        yield _EVERYTHING
    else:
        yield from keys_of_values(scope.values)


def keys_of_values(values: Values) -> Iterator[Key]:
    for kind, some in zip(_KINDS, values, strict=True):
        for each in some:
            yield kind, each
