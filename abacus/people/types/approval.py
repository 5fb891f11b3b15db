"""What waits for a second person, bound by its digest to exactly what shall take effect. Pure values."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from abacus.core.errors import AbacusError


class ApprovalKind(StrEnum):
    """What an approval lets happen. Each kind has an executor, which the wiring names."""

    ADJUSTMENT = "adjustment"
    REVERSAL = "reversal"
    RATE_CARD = "rate_card"
    LIMITS = "limits"
    CAMPAIGN = "campaign"
    OFFER = "offer"
    REWARD = "reward"
    EXCHANGE_PROGRAMME = "exchange_programme"
    EXCHANGE = "exchange"
    JOURNEY = "journey"
    JOURNEY_MIGRATION = "journey_migration"
    CONTACT_POLICY = "contact_policy"
    REGIONS = "regions"
    ASSUMPTION = "assumption"
    MONTH_CLOSE = "month_close"


class Status(StrEnum):
    """How far an approval has come. An approved one is being carried out, or was cut off at that."""

    PENDING = "pending"
    APPROVED = "approved"
    DONE = "done"
    REJECTED = "rejected"
    VOID = "void"  # it was replaced, or what it would have done is not possible any more
    EXPIRED = "expired"  # nobody decided in time


class Terms(NamedTuple):
    """For how long an approval may be pending, and for how long access that one person gave another ties the two."""

    pending: timedelta = timedelta(days=14)
    tied: timedelta = timedelta(days=30)


class Proposal(NamedTuple):
    """What somebody wants to happen. `document` is the canonical JSON of exactly that; `summary` is for people.

    `once` is the id for a subject that is an idempotency key: its first document stands. Of any other subject a new
    document makes the pending one void.
    """

    kind: ApprovalKind
    subject: str
    country: str | None
    summary: str
    document: str
    once: UUID | None = None


class Approval(NamedTuple):
    """A proposal on its way through the hands of two. `asked_by` and `decided_by` are sources."""

    approval_id: UUID
    kind: str
    subject: str
    country: str | None
    summary: str
    document: str
    digest: str
    asked_by: str
    asked_at: datetime
    status: str
    decided_by: str | None
    decided_at: datetime | None
    note: str | None


class Waiting(NamedTuple):
    """What waits for a person, the longest first. `is_whole`: there is no more."""

    approvals: Sequence[Approval]
    is_whole: bool


class CannotDecide(AbacusError):
    """Not by this person, not in this way, or not any more. `kind` is the type of the problem for a caller."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class CannotExecute(AbacusError):
    """What was approved cannot be done any more, or is not what was approved. The approval becomes void. `cause` is
    the fault that a caller may tell.
    """

    def __init__(self, detail: str, cause: AbacusError | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.cause = cause
