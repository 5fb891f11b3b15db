"""The countries that documents of a country can be of. Pure."""

from collections.abc import Collection
from typing import NamedTuple


class Countries(NamedTuple):
    """The countries that have a card."""

    names: Collection[str] = ()
