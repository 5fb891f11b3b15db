"""The keys under which offers lie and items find them: a product, a merchant, a brand, categories, and all. Pure."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.offer import Scope, Values

# A word for the kind of value, and the value.
Key: TypeAlias = tuple[str, str]

_KINDS: Final = ("product", "merchant", "brand", "category")  # as `Values` has them
_EVERYTHING: Final[Key] = ("all", "")


def keys_of(item: Item) -> tuple[Key, ...]:
    """The keys of an item, from the narrowest to the widest."""
    categories = [("category", each) for each in reversed(item.categories)]
    return (
        ("product", item.product),
        ("merchant", item.merchant),
        ("brand", item.brand),
        *categories,
        _EVERYTHING,
    )


def keys_of_scope(scope: Scope) -> Iterator[Key]:
    if scope.everything:
        yield _EVERYTHING
    else:
        yield from keys_of_values(scope.values)


def keys_of_values(values: Values) -> Iterator[Key]:
    for kind, some in zip(_KINDS, values, strict=True):
        for each in some:
            yield kind, each
