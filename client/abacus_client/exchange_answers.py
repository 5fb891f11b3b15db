"""The answers about exchanges with partners, as frozen values."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, TypeAlias
from uuid import UUID

Direction: TypeAlias = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class Ratio:
    """`give` points of the giver's buy `get` of the taker's."""

    give: int
    get: int


@dataclass(frozen=True, slots=True)
class Usually:
    """Seconds within which the partner credited half of what it credited lately, and 95 of 100."""

    half_s: float
    most_s: float


@dataclass(frozen=True, slots=True)
class ExchangeQuote:
    """What an exchange would be. What comes in begins at the partner, so its quote has no id."""

    quote_id: UUID | None
    programme: str
    version: int
    direction: Direction
    points: int
    fee: int
    theirs: int
    unit: str
    ratio: Ratio
    expires_at: datetime | None
    usually: Usually | None
    reverses_for_s: int | None
    says: str


@dataclass(frozen=True, slots=True)
class Turn:
    """An exchange came to a state."""

    state: str
    at: datetime
    reason: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """Where an exchange stands. Asked for by its id, and after it was cancelled or undone, it has its `trail`."""

    exchange_id: UUID
    programme: str
    version: int
    partner: str
    member_id: str
    direction: Direction
    points: int
    fee: int
    theirs: int
    state: str
    reason: str | None
    detail: str | None
    reference: str | None
    late: bool
    asked_at: datetime | None
    sent_at: datetime | None
    credited_at: datetime | None
    ended_at: datetime | None
    reversible_until: datetime | None = None
    trail: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class AccountLink:
    """A member's account at a partner; `number` is the end of its number. `way` is what verified it: `code`, `partner`
    or `oauth`. A link that was just begun by a sign-in has the `authorize_url` to which the member is sent.
    """

    link_id: UUID
    programme: str
    member_id: str
    number: str
    status: str
    reason: str | None
    asked_at: datetime
    code_until: datetime | None = None
    verified_at: datetime | None = None
    usable_from: datetime | None = None
    ended_at: datetime | None = None
    way: str | None = None
    authorize_url: str | None = None


@dataclass(frozen=True, slots=True)
class InboundExchange:
    """What a member of the calling partner brings: its `points` become a `credit` of the house's."""

    id: str
    state: Literal["reserved", "committed", "awarded", "dropped"]
    points: int
    credit: int
    reason: str | None = None
    detail: str | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class StatementSums:
    """Of all lines of a statement."""

    points: int
    credit: int


@dataclass(frozen=True, slots=True)
class StatementLine:
    """An exchange of the calling partner that was awarded."""

    id: str
    state: str
    points: int
    credit: int
    at: datetime


@dataclass(frozen=True, slots=True)
class ExchangeStatement:
    """What came in from the calling partner on a day of UTC. Of a day that is `complete` it never changes."""

    programme: str
    date: date
    complete: bool
    count: int
    sums: StatementSums
    lines: tuple[StatementLine, ...]
