"""Movements: every change of an account but an award. Spend, hold, capture, release, adjust, take back. Pure values.

Each carries the actor that answers for it and its source, the way by which it came (`abacus.core.sources`).
"""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, Protocol, TypeAlias
from uuid import UUID

from abacus.core.errors import AbacusError, SetAside
from abacus.ledger.types.account import Account
from abacus.ledger.types.limits import RejectionReason, Sums
from abacus.ledger.types.port import Claim, Status
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.decide.card import OnShortfall


class Decline(StrEnum):
    """Why an account refuses a movement."""

    INSUFFICIENT = "insufficient-points"
    NO_SUCH_HOLD = "no-such-hold"
    HOLD_NOT_OPEN = "hold-not-open"
    HOLD_TOO_SMALL = "hold-too-small"
    HOLD_OF_EXCHANGE = "hold-of-exchange"  # of another source, which alone settles it
    NOT_REVERSIBLE = "not-reversible"
    REVERSED_ALREADY = "reversed-already"
    AWARD_CAP = RejectionReason.AWARD_CAP.value  # the limits of the partner that moves the points
    MEMBER_DAY_CAP = RejectionReason.MEMBER_DAY_CAP.value
    BUDGET_EXHAUSTED = RejectionReason.BUDGET_EXHAUSTED.value
    SECOND_PERSON_NEEDED = "second-person-needed"


class Declined(AbacusError):
    """The account cannot do this as it stands. Nothing was written, and the key is still free."""

    def __init__(self, reason: Decline, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class SecondPersonNeeded(Declined):
    """One person alone may not move these points: in one transfer, or together with what was moved before."""

    def __init__(self, points: int, detail: str) -> None:
        super().__init__(Decline.SECOND_PERSON_NEEDED, detail)
        self.points = points


class Tender(NamedTuple):
    """The money that the points of a spend pay, by a card. `price` is that of the purchase, where something else paid
    the rest.
    """

    money: Decimal
    currency: str
    card: str
    price: Decimal | None = None


class Spend(NamedTuple):
    """Points that the member pays with, and what they pay where that is said."""

    key: str
    member_id: str
    program: str
    country: str
    fingerprint: str
    points: int
    reason: str
    actor: str
    source: str
    tender: Tender | None = None


class Reserve(NamedTuple):
    """Points to be held until a time, so that they are there when they are captured. Without one only movements of this
    source settle the hold.
    """

    key: str
    member_id: str
    program: str
    country: str
    fingerprint: str
    points: int
    reason: str
    actor: str
    source: str
    hold_id: UUID
    until: datetime | None


class Exchanged(NamedTuple):
    """What a partner credited for points that were held: `theirs` of its points, which it calls by `unit`. Of the held
    points the member pays `fee` beside. `programme` is named with its version.
    """

    exchange_id: UUID
    programme: str
    partner: str
    theirs: int
    unit: str
    fee: int = 0


class Capture(NamedTuple):
    """All or part of a hold becomes a spend, or leaves by an exchange; the rest is released. No points: all."""

    key: str
    member_id: str
    program: str
    country: str
    fingerprint: str
    points: int | None
    actor: str
    source: str
    hold_id: UUID
    exchanged: Exchanged | None = None


class Because(StrEnum):
    """Why points are not held any more."""

    RELEASED = "released"
    EXPIRED = "expired"


class Release(NamedTuple):
    """A hold is let go: its points are free again."""

    key: str
    member_id: str
    program: str
    country: str
    fingerprint: str
    actor: str
    source: str
    hold_id: UUID
    because: Because


class Adjustment(NamedTuple):
    """Points that a person adds or takes, and answers for. Added points are good until `expires_on`; an account that is
    empty goes by lots from then on if `lifetime` says so. One person moves at most `alone` points, and no more in
    `sums` with what was moved before, where that is said.
    """

    key: str
    member_id: str
    program: str
    country: str
    fingerprint: str
    points: int
    reason: str
    actor: str
    source: str
    approved_by: str | None
    expires_on: date
    lifetime: bool
    on_behalf_of: str | None = None  # whom a partner names as the person at its end
    alone: int | None = None
    sums: Sums | None = None


class Refund(NamedTuple):
    """How much of a transaction's amount was paid back."""

    amount: Decimal
    currency: str


class Reversal(NamedTuple):
    """The transfer with the key `reverses` is taken back: the share of a refund, a number of points, or all that is
    left of it. Points that are given back keep the day that they had; `expires_on` is theirs where none is known.
    `lifetime` is for versions by which an empty account changed its way of lapsing. At most `alone` points of
    the transfer are taken back altogether, and no more in `sums` with what was moved before, where that is said.
    """

    key: str
    member_id: str
    program: str
    country: str
    fingerprint: str
    reverses: str
    part: Refund | int | None
    on_shortfall: OnShortfall
    card: str
    reason: str | None
    actor: str | None
    source: str
    occurred_at: datetime
    expires_on: date
    lifetime: bool
    approved_by: str | None = None
    alone: int | None = None
    sums: Sums | None = None


Movement: TypeAlias = Spend | Reserve | Capture | Release | Adjustment | Reversal


class HoldStatus(StrEnum):
    """Where a hold stands."""

    OPEN = "open"
    CAPTURED = "captured"
    RELEASED = "released"
    EXPIRED = "expired"


class Hold(NamedTuple):
    """Points held for someone. Changed only under the lock of its account. A hold without an end names the source that
    alone settles it.
    """

    member_id: str
    hold_id: UUID
    program: str
    country: str
    points: int
    until: datetime | None
    status: HoldStatus
    held_by: str
    placed_seq: int
    settled_seq: int | None
    settled_by: str | None = None


class Moved(NamedTuple):
    """The fate of one movement. `transfer` and the account after it are there when it was posted now, `claim` when its
    key was taken before, `fault` when it was refused.
    """

    movement: Movement
    status: Status
    transfer: Transfer | None = None
    account: Account | None = None
    claim: Claim | None = None
    fault: Declined | SetAside | None = None


class MovesPort(Protocol):
    """A ledger's promises to callers who move points."""

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        """Post the new movements that can be posted, and return the fate of each, in order; a refused one holds up no
        other. Where a server is away, movements of its slices wait.

        Raises `Unavailable` when the fates are not known: repeated under the same keys, no movement is posted twice.
        """
        ...
