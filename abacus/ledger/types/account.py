"""An account: the points of a member in one program."""

from collections.abc import Sequence
from datetime import date
from typing import Final, NamedTuple, TypeAlias

MAX_BALANCE: Final = 2**63 - 1


NO_HASH: Final = b""


# A member and a program. Sorting these gives the order in which accounts are locked. A plain tuple, because posting
# makes several for each award.
AccountId: TypeAlias = tuple[str, str]


class AccountBalance(NamedTuple):
    """An account as others may ask for it: its balance, and its country."""

    balance: int
    country: str


class Account(NamedTuple):
    """The state of an account after its last transfer.

    `lots_closed` to `lifetime` say how far its lots are used up, and how they lapse (`abacus.ledger.decide.lots`).
    """

    member_id: str
    program: str
    country: str
    balance: int
    held: int
    earned_total: int
    expires_on: date | None
    last_seq: int
    head_hash: bytes
    lots_closed: int = 0  # every lot up to this `seq` is used up
    lots_drawn: int = 0  # points taken, oldest first, from the lots after it; more than they hold is a debt
    lapsed_seq: int = 0  # the last transfer that took lapsed points
    lifetime: bool = False  # each lot lapses after its own day, and `expires_on` is the first of these
    active_until: date | None = None  # its day by activity, which stays when the account is emptied
    vesting: Sequence[int] | None = None  # points that vest later (`abacus.ledger.decide.pending`)

    @classmethod
    def opened(cls, id_: AccountId, country: str) -> "Account":
        return cls(*id_, country, 0, 0, 0, None, 0, NO_HASH)

    @property
    def id(self) -> AccountId:
        return (self.member_id, self.program)

    @property
    def pending(self) -> int:
        """The points that vest later than the time at which the account was looked at."""
        return sum(self.vesting[1::2]) if self.vesting else 0

    @property
    def available(self) -> int:
        """The points that can be spent: held and pending points cannot."""
        return self.balance - self.held - self.pending
