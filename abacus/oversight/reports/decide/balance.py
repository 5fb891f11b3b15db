"""The balances of the accounts at a moment. Pure; `accounts` reads them.

They are summed in three ways that must agree: the points of the transfers, the balance that each account's last
transfer recorded, and the accounts' own balances less the postings since.
"""

from typing import NamedTuple


class ProgramBalance(NamedTuple):
    """The balances of one program in one country. `owed` is the sum of the negative balances, which members owe."""

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
        """Whether the sums agree and no single account is apart: sums may agree by luck."""
        return not self.apart and self.points == self.recorded == self.accounts
