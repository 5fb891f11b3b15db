"""What the accounts held at a moment. Pure; `accounts` reads it.

It is summed in three ways that must agree: the points of the transfers, the balance that each account's last transfer
recorded, and the accounts' own balances less what was posted since.
"""

from typing import NamedTuple


class Standing(NamedTuple):
    """Of one program in one country. `owed` is what members owe: their negative balances, as a negative number."""

    program: str
    country: str
    members: int
    outstanding: int
    owed: int
    recorded: int
    accounts: int
    apart: int

    @property
    def points(self) -> int:
        return self.outstanding + self.owed

    @property
    def ties(self) -> bool:
        """Sums may agree by luck; no single account may be apart."""
        return not self.apart and self.points == self.recorded == self.accounts
