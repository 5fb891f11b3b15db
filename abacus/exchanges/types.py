"""What the house asks of a partner, whichever carrier brings it. Pure values."""

from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from abacus.core.errors import Unavailable
from abacus.exchanges.decide.heard import Heard


class Account(NamedTuple):
    """A member's account at the partner: its number, and the holder's name where the partner wants one."""

    number: str
    holder: str | None = None


class Transfer(NamedTuple):
    """What a partner is asked to credit: `amount` of its points, once under this id. The house's `points` buy them."""

    exchange_id: UUID
    account: Account
    amount: int
    points: int
    programme: str  # with its version: "skymiles@3"
    asked_at: datetime


class Match(StrEnum):
    """What a partner says of an account."""

    MATCH = "match"
    NEAR = "near"  # the number is there, with a name that is nearly this one
    NONE = "none"
    CLOSED = "closed"


class NoAccount(StrEnum):
    """Why a member's sign-in at a partner leads to no account."""

    REFUSED = "sign-in-refused"  # the partner does not take the code
    UNKNOWN = "account-unknown"
    CLOSED = "account-closed"


class NotAsked(Unavailable):
    """The partner was told nothing, so that the same may be tried again."""


class StatementState(StrEnum):
    """Where a partner says that an id stands."""

    CREDITED = "credited"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    REVERSED = "reversed"


class StatementLine(NamedTuple):
    """One id of a partner's statement of a day."""

    id: str
    state: StatementState
    amount: int
    at: datetime
    reference: str | None = None


class PartnerStatement(NamedTuple):
    """All ids that a partner changed on a day, with its own sums; `complete` once the day is over at its end."""

    day: date
    complete: bool
    lines: Sequence[StatementLine]


class Recalled(NamedTuple):
    """What a partner remembers of a transfer that it has credited: by what it was asked for."""

    number: str
    amount: int
    points: int
    programme: str
    reference: str | None


class TransferPort(Protocol):
    """Whom transfers are put to. What is said of one is always an answer, `Silence` at the least; no method fails.

    Every method may be called again with the same values: that changes nothing at the partner's end.
    """

    async def put(self, transfer: Transfer) -> Heard: ...

    async def get(self, exchange_id: UUID) -> Heard: ...

    async def cancel(self, exchange_id: UUID) -> Heard: ...

    async def reverse(self, exchange_id: UUID) -> Heard: ...


class AccountPort(Protocol):
    """Who is asked about accounts."""

    async def verify(self, account: Account) -> Match:
        """Raises `Unavailable`."""
        ...


class PartnerPort(TransferPort, AccountPort, Protocol):
    """A partner."""

    async def statement(self, day: date) -> PartnerStatement:
        """Raises `Unavailable`, and `Refused` for a statement whose lines have other sums."""
        ...


class SignInPort(Protocol):
    """A partner at which members sign in."""

    async def check(self) -> None:
        """Whether a sign-in can be begun. Raises `Unavailable`."""
        ...

    async def account(self, code: str, verifier: str, redirect_uri: str) -> Account | NoAccount:
        """Whose account it is, by the code of a sign-in, which this uses up. Raises `NotAsked` and `Unavailable`."""
        ...


class Recalls(Protocol):
    """A partner that may be asked for what the house has forgotten."""

    async def recalled(self, exchange_id: UUID) -> Recalled | None:
        """None where it tells nothing of it, or has not credited it. Raises `Unavailable`."""
        ...


class RecallingPartner(PartnerPort, Recalls, Protocol):
    """A partner, also after the house has forgotten something."""
