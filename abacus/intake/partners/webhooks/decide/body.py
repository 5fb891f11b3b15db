"""The bodies of webhook messages; their JSON Schema is made from these types."""

from datetime import date, datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from abacus.ledger.types.limits import RejectionReason
from abacus.pricing.explanation.types import Document


class _About(BaseModel):
    """The fields about an award in every message."""

    award_id: UUID
    idempotency_key: str
    member_id: str
    program: str
    points: int


class PostedAward(_About):
    """The award is in the ledger; `balance` is the account's balance after it."""

    status: Literal["posted"]
    country: str
    balance: int
    posted_at: datetime
    occurred_at: datetime
    expires_on: date | None
    explanation: Document


class RejectedAward(_About):
    """The award met a limit, for good."""

    status: Literal["rejected"]
    rejected_at: datetime
    reason: RejectionReason
    detail: str


class AwardPosted(BaseModel):
    """`timestamp` is when it happened. Fields may be added."""

    model_config = ConfigDict(title="award.posted")

    type: Literal["award.posted"]
    timestamp: datetime
    data: PostedAward


class _Trial(BaseModel):
    """A trial is about nothing but its partner."""

    partner_id: str


class WebhookTrial(BaseModel):
    """The operator tries the webhook: nothing has happened. Fields may be added."""

    model_config = ConfigDict(title="abacus.test")

    type: Literal["abacus.test"]
    timestamp: datetime
    data: _Trial


class AwardRejected(BaseModel):
    """`timestamp` is when it happened. Fields may be added."""

    model_config = ConfigDict(title="award.rejected")

    type: Literal["award.rejected"]
    timestamp: datetime
    data: RejectedAward


class ChangedExchange(BaseModel):
    """An exchange that the partner asked for, and where it stands now. `turn` counts its states from 1."""

    exchange_id: UUID
    turn: int
    direction: Literal["out", "in"]
    programme: str
    member_id: str
    program: str
    country: str
    points: int
    fee: int
    theirs: int
    state: str
    reason: str | None
    detail: str | None
    words: str
    reference: str | None


class ExchangeChanged(BaseModel):
    """`timestamp` is when it happened. Fields may be added."""

    model_config = ConfigDict(title="exchange.changed")

    type: Literal["exchange.changed"]
    timestamp: datetime
    data: ChangedExchange
