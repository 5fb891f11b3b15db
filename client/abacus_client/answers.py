"""The answers of the API, as frozen values. Fields that are not named here are ignored."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

from abacus_client.problem import Problem

Grain: TypeAlias = Literal["minute", "quarter", "hour", "day"]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Worth:
    """Points and their explanation."""

    points: int
    program: str
    member_id: str
    expires_on: date
    explanation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Quote(Worth):
    """The points of an award at a time, and the card that prices them. Until a `scheduled` card begins, it may be
    withdrawn, or another card take its place.
    """

    card: str
    quoted_for: datetime
    scheduled: bool


@dataclass(frozen=True, slots=True)
class Award(Worth):
    """An award and its progress. `balance` is the account's after the award, once it is posted."""

    award_id: UUID
    status: Literal["queued", "posted", "rejected", "quarantined"]
    posted_at: datetime | None = None
    balance: int | None = None
    reason: str | None = None
    detail: str | None = None
    provisional: bool = False  # the points of a member without a tier; the tier counts before they are posted
    replayed: bool = False  # the queue had it already, from an earlier call or from an earlier try of this one
    idempotency_key: str | None = None  # unknown where the award was looked up by its id


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The outcome of one award of a batch: it has an `award`, or a `problem` if it was refused."""

    idempotency_key: str | None
    outcome: Literal["accepted", "replayed", "refused"]
    award: Award | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class EventResult:
    """The outcome of one event of a batch: it has a `key`, or a `problem` if it was refused."""

    outcome: Literal["accepted", "refused"]
    key: str | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class PositionResult:
    """The outcome of one position of a batch; it has a `problem` if it was refused."""

    outcome: Literal["accepted", "refused"]
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """A member's points in one program."""

    program: str
    balance: int
    held: int
    available: int
    tier: str
    expires_on: date | None


@dataclass(frozen=True, slots=True)
class Member:
    """The accounts of a member that are open to the partner; `as_of` is the past time that the caller named."""

    member_id: str
    accounts: tuple[Account, ...]
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Transfer:
    """One change of an account. `key` and `explanation` are None where the change is another's."""

    id: str
    program: str
    seq: int
    kind: str
    points: int
    balance_after: int
    key: str | None
    country: str
    occurred_at: datetime
    posted_at: datetime
    expires_on: date | None
    explanation: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Movement(Transfer):
    """A posted spend, hold, capture, release, reversal or adjustment. `available` are the points that can be spent
    after it.
    """

    member_id: str
    balance: int
    reverses: str | None = None
    actor: str | None = None
    available: int | None = None
    hold_id: UUID | None = None
    held: int | None = None
    until: datetime | None = None
    replayed: bool = False  # it was done before, by an earlier call or an earlier try of this one


@dataclass(frozen=True, slots=True)
class MovementResult:
    """The outcome of one movement of a batch: it has a `movement`, or a `problem` if it was refused. Nobody knows
    whether an `unknown` one is done: bring it again under its key.
    """

    idempotency_key: str | None
    outcome: Literal["posted", "replayed", "refused", "unknown"]
    movement: Movement | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Pending:
    """An adjustment or a reversal that waits for a second person of the house."""

    approval_id: UUID
    kind: str
    member_id: str
    program: str
    points: int
    reason: str
    actor: str
    status: str


@dataclass(frozen=True, slots=True)
class Lot:
    """The rest of a transfer that added points. `key` is None where another added them."""

    id: str
    program: str
    seq: int
    key: str | None
    kind: str
    points: int
    remaining: int
    occurred_at: datetime
    expires_on: date | None


@dataclass(frozen=True, slots=True)
class Count:
    """The count of one query, with the range that was counted; or the `error` instead. A counter of amounts counts in
    decimals. An error that is `passing` may be gone when the query is sent again.
    """

    key: str | None
    count: int | Decimal | None = None
    from_: datetime | None = None
    to: datetime | None = None
    error: Problem | None = None


class Slot(NamedTuple):
    """The count of a stretch of time that begins at this moment."""

    begins: datetime
    count: int | Decimal  # type: ignore[assignment]  # tuples have a method of this name


@dataclass(frozen=True, slots=True)
class Series:
    """The slots of one query, without a gap; or the `error` instead. `open`: the last slot has not ended. An error that
    is `passing` may be gone when the query is sent again.
    """

    key: str | None
    grain: Grain | None = None
    slots: tuple[Slot, ...] = ()
    open: bool = False
    error: Problem | None = None


@dataclass(frozen=True, slots=True)
class KeyCount:
    """A key of a counter with its count in a range."""

    key: str
    count: int | Decimal


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """A page of a list; `next` is the cursor of the next page."""

    items: tuple[Item, ...]
    next: str | None
