"""The schemas of the bodies of answers, for the OpenAPI document; `answers` makes the bodies."""

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from abacus.api import answer_examples as examples
from abacus.api.api_problem import Problem
from abacus.people.types.approval import ApprovalKind, Status
from abacus.pricing.explanation.types import Document


def with_example(*shown: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": list(shown)})


class Worth(BaseModel):
    """Points and their explanation."""

    model_config = with_example(examples.WORTH)

    points: int
    program: str
    member_id: str
    expires_on: date
    explanation: Document


class QuoteAnswer(Worth):
    """The points of an award at a time, and the card that prices them. A `scheduled` card has not begun; until it does,
    it may be withdrawn, or another card take its place.
    """

    model_config = with_example(examples.QUOTE)

    card: str
    quoted_for: datetime
    scheduled: bool


class PointQuoteAnswer(BaseModel):
    """The points that pay the money at a till, by the card that is in force; `available` points can be spent."""

    model_config = with_example(examples.POINT_QUOTE)

    member_id: str
    program: str
    country: str
    points: int
    money: str
    currency: str
    available: int
    card: str


class AwardAnswer(Worth):
    """An award and its progress. `balance` is the account's after the award, once it is posted. `provisional` points
    are those of a member without a tier: the tier could not be read, and is applied before they are posted.
    """

    model_config = with_example(examples.AWARD, examples.POSTED)

    award_id: UUID
    status: Literal["queued", "posted", "rejected", "quarantined"]
    provisional: bool | None = None
    posted_at: datetime | None = None
    balance: int | None = None
    reason: str | None = None
    detail: str | None = None


class RedeemedAnswer(BaseModel):
    """The offer that was redeemed with a transaction, what it took off, and the points that it gave besides; or the
    reward, its pieces, and the points that it cost. Without both the member has no such redemption. `faults` say where
    transaction and redemption do not agree, or that another transaction named the redemption before.
    """

    redemption_id: UUID
    offer: str | None = None
    reward: str | None = None
    version: int | None = None
    saves: str | None = None
    quantity: int | None = None
    points: int | None = None
    faults: list[str]


class FollowedAwardAnswer(AwardAnswer):
    """An award that was asked for by its id, or waited for. `redeemed` is there where it is posted, for a transaction
    that names a redemption.
    """

    redeemed: RedeemedAnswer | None = None


class BatchItem(BaseModel):
    """The outcome of one award of a batch."""

    idempotency_key: str | None
    outcome: Literal["accepted", "replayed", "refused"]
    award: AwardAnswer | None = None
    problem: Problem | None = None


class BatchAnswer(BaseModel):
    """The outcomes, in the order of the request."""

    model_config = with_example(examples.BATCH)

    results: list[BatchItem]


class EventAnswer(BaseModel):
    """The key of an event: two events with the same key are the same event."""

    model_config = with_example(examples.EVENT)

    key: str


class EventBatchItem(BaseModel):
    """The outcome of one event of a batch."""

    outcome: Literal["accepted", "refused"]
    key: str | None = None
    problem: Problem | None = None


class EventBatchAnswer(BaseModel):
    """The outcomes, in the order of the request."""

    model_config = with_example(examples.EVENT_BATCH)

    results: list[EventBatchItem]


class PositionBatchItem(BaseModel):
    """The outcome of one position of a batch."""

    outcome: Literal["accepted", "refused"]
    problem: Problem | None = None


class PositionBatchAnswer(BaseModel):
    """The outcomes, in the order of the request."""

    model_config = with_example(examples.POSITION_BATCH)

    results: list[PositionBatchItem]


class AccountAnswer(BaseModel):
    """A member's points in one program. `pending` points can be spent later: they vest on a day of their own.
    `available` is the balance less the held and the pending points.
    """

    program: str
    balance: int
    held: int
    pending: int
    available: int
    tier: str
    expires_on: date | None


class MemberAnswer(BaseModel):
    """A member's accounts; `as_of` is the past time that the request named."""

    model_config = with_example(examples.MEMBER)

    member_id: str
    accounts: list[AccountAnswer]
    as_of: datetime | None = None


class TransferAnswer(BaseModel):
    """One change of an account. Points with `vests_on` can be spent from that day on. Of a transfer that is another's,
    `key`, `actor` and `explanation` are null, and so is `reverses` unless it names a key of yours.
    """

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
    vests_on: date | None
    reverses: str | None
    actor: str | None
    explanation: Document | None


class ListedTransferAnswer(TransferAnswer):
    """A transfer in a list. `redeemed` is there where it is of a transaction that names a redemption."""

    redeemed: RedeemedAnswer | None = None


class MoveAnswer(TransferAnswer):
    """A posted movement. `available` are the points that can be spent after it; `hold_id`, `held` and `until` are those
    of the hold that it placed or settled.
    """

    model_config = with_example(examples.MOVEMENT)

    member_id: str
    balance: int
    available: int | None = None
    hold_id: UUID | None = None
    held: int | None = None
    until: datetime | None = None


class MovementItemAnswer(BaseModel):
    """The outcome of one movement of a batch. Of an `unknown` one nobody knows whether it is done: ask again under its
    key.
    """

    idempotency_key: str | None
    outcome: Literal["posted", "replayed", "refused", "unknown"]
    movement: MoveAnswer | None = None
    problem: Problem | None = None


class MovementsAnswer(BaseModel):
    """The outcomes, in the order of the request."""

    model_config = with_example(examples.MOVEMENTS)

    results: list[MovementItemAnswer]


class HoldAnswer(BaseModel):
    """Points that are held. A hold of an exchange has no end: `until` is null."""

    hold_id: UUID
    program: str
    points: int
    until: datetime | None
    status: str


class HoldsAnswer(BaseModel):
    """A member's open holds."""

    model_config = with_example(examples.HOLDS)

    member_id: str
    holds: list[HoldAnswer]


class LotAnswer(BaseModel):
    """The rest of a transfer that added points. The oldest are spent first. `key` is null where another added them."""

    id: str
    program: str
    seq: int
    key: str | None
    kind: str
    points: int
    remaining: int
    occurred_at: datetime
    expires_on: date | None


class LotsAnswer(BaseModel):
    """A page, the oldest first; `next` is the cursor of the next one, if there is one."""

    model_config = with_example(examples.LOTS)

    member_id: str
    lots: list[LotAnswer]
    next: str | None


class PendingAnswer(BaseModel):
    """An adjustment or a reversal that waits, or waited, for a second person. A reversal takes back its `points`. An
    approval names the `digest`.
    """

    model_config = with_example(examples.ADJUSTMENT)

    approval_id: UUID
    adjustment_id: UUID | None = None
    kind: Literal["adjustment", "reversal"]
    member_id: str
    program: str
    country: str
    points: int
    reason: str | None
    actor: str
    status: Status
    digest: str
    asked_by: str
    asked_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    note: str | None


class AdjustmentsAnswer(BaseModel):
    """Adjustments, the newest first."""

    model_config = with_example(examples.ADJUSTMENTS)

    adjustments: list[PendingAnswer]


class ApprovalAnswer(BaseModel):
    """What waits, or waited, for a second person: `document` is exactly what takes effect, and `digest` is SHA-256 over
    kind, subject, country and document. `asked_by` and `decided_by` are sources, such as `person:ann`.
    """

    model_config = with_example(examples.APPROVAL)

    approval_id: UUID
    kind: ApprovalKind
    subject: str
    country: str | None
    summary: str
    document: dict[str, Any]
    digest: str
    asked_by: str
    asked_at: datetime
    status: Status
    decided_by: str | None
    decided_at: datetime | None
    note: str | None


class ApprovalsAnswer(BaseModel):
    """Approvals, the newest first."""

    model_config = with_example({"approvals": [examples.APPROVAL]})

    approvals: list[ApprovalAnswer]


class TransfersAnswer(BaseModel):
    """A page, the newest first; `next` is the cursor of the next one, if there is one."""

    model_config = with_example(examples.TRANSFERS)

    transfers: list[ListedTransferAnswer]
    next: str | None
