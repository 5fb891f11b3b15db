"""Where the tables of some counters are."""

from typing import NamedTuple

from abacus.platform.slices.layout import Slicing


class Home(NamedTuple):
    """A slice, by its number and its schema; both None in a ledger that is not cut."""

    number: int | None
    schema: str | None

    @classmethod
    def of(cls, slicing: Slicing, number: int) -> "Home":
        return cls(number if slicing.is_cut else None, slicing.home(number))

    def table(self, name: str) -> str:
        """Its name in statements that may run in any session."""
        return name if self.schema is None else f"{self.schema}.{name}"
