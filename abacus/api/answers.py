"""The bodies of answers. The routes write them with orjson; these models are their schema."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, Final, Literal
from uuid import UUID

import orjson
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from abacus.api.problems import Problem
from abacus.core.errors import SetAside
from abacus.intake.partners.award_intake import Accepted
from abacus.intake.partners.members import AccountAsOf
from abacus.intake.partners.register import AwardState, AwardStatus
from abacus.ledger.store.adjustments import Requested
from abacus.ledger.store.read import Remaining
from abacus.ledger.types.award import Award
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.text import read
from abacus.pricing.explanation.types import Captured, Document, Held, Released, Spent

_WORTH: Final = {
    "points": 100,
    "program": "GRP",
    "member_id": "bob",
    "expires_on": "2026-07-31",
    "explanation": {"v": 1, "granted_by": "acme", "reason": "Welcome to Acme", "card": "SG@7", "points": 100},
}
_AWARD: Final = {"award_id": "0d7a0f4e-6b1e-5f0c-9a53-2f8a4d0c6e11", "status": "queued", **_WORTH}
_POSTED: Final = {**_AWARD, "status": "posted", "posted_at": "2026-01-10T04:30:02Z", "balance": 280}
_OVER: Final = {
    "type": "/problems/budget-exhausted",
    "title": "The partner's budget is exhausted",
    "status": 403,
    "detail": "5000 a day are used up",
}
_TRANSFER: Final = {
    "id": "bob:GRP:3",
    "program": "GRP",
    "seq": 3,
    "kind": "spend",
    "points": -80,
    "balance_after": 200,
    "key": "api:acme:order-1001",
    "country": "SG",
    "occurred_at": "2026-01-10T04:30:00Z",
    "posted_at": "2026-01-10T04:30:00Z",
    "expires_on": None,
    "reverses": None,
    "actor": "acme",
    "explanation": {"v": 1, "points": -80, "reason": "A coffee", "spent_by": "acme", "available": 200},
}
_HOLD: Final = {
    "hold_id": "5c0e7f0a-3b8e-5a44-8f2b-6b9f6d1f2a33",
    "program": "GRP",
    "points": 80,
    "until": "2026-01-10T04:45:00Z",
    "status": "open",
}
_ADJUSTMENT: Final = {
    "adjustment_id": "7a6b2c5d-1f7e-5c3a-9d8e-3e2f1a0b4c55",
    "member_id": "bob",
    "program": "GRP",
    "country": "SG",
    "points": 20000,
    "reason": "A booking that was lost",
    "actor": "ann",
    "status": "pending",
    "asked_at": "2026-01-10T04:30:00Z",
    "decided_by": None,
    "decided_at": None,
    "note": None,
}


def _with_example(*examples: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": list(examples)})


class Worth(BaseModel):
    """Points and how they came about."""

    model_config = _with_example(_WORTH)

    points: int
    program: str
    member_id: str
    expires_on: date
    explanation: Document


class AwardAnswer(Worth):
    """An award and how far it has come. `balance` is the account's after the award, once it is posted. Points that are
    `provisional` are those of a member without a tier: the tier could not be read, and counts before they are posted.
    """

    model_config = _with_example(_AWARD, _POSTED)

    award_id: UUID
    status: Literal["queued", "posted", "rejected", "quarantined"]
    provisional: bool | None = None
    posted_at: datetime | None = None
    balance: int | None = None
    reason: str | None = None
    detail: str | None = None


class BatchItem(BaseModel):
    """What became of one award of a batch."""

    idempotency_key: str | None
    outcome: Literal["accepted", "replayed", "refused"]
    award: AwardAnswer | None = None
    problem: Problem | None = None


class BatchAnswer(BaseModel):
    """In the order of the request."""

    model_config = _with_example(
        {
            "results": [
                {"idempotency_key": "w-1", "outcome": "accepted", "award": _AWARD},
                {"idempotency_key": "w-2", "outcome": "refused", "problem": _OVER},
            ]
        }
    )

    results: list[BatchItem]


class AccountAnswer(BaseModel):
    """A member's points in one program."""

    program: str
    balance: int
    held: int
    available: int
    tier: str
    expires_on: date | None


class MemberAnswer(BaseModel):
    """A member's accounts; `as_of` when they were so, where that was asked."""

    model_config = _with_example(
        {
            "member_id": "bob",
            "accounts": [
                {
                    "program": "GRP",
                    "balance": 280,
                    "held": 80,
                    "available": 200,
                    "tier": "platinum",
                    "expires_on": "2026-07-31",
                }
            ],
        }
    )

    member_id: str
    accounts: list[AccountAnswer]
    as_of: datetime | None = None


class TransferAnswer(BaseModel):
    """One change of an account."""

    id: str
    program: str
    seq: int
    kind: str
    points: int
    balance_after: int
    key: str
    country: str
    occurred_at: datetime
    posted_at: datetime
    expires_on: date | None
    reverses: str | None
    actor: str | None
    explanation: Document


class MoveAnswer(TransferAnswer):
    """A movement that is posted. `available` is what can be spent after it; `hold_id`, `held` and `until` are those of
    the hold that it placed or settled.
    """

    model_config = _with_example({**_TRANSFER, "member_id": "bob", "balance": 200, "available": 200})

    member_id: str
    balance: int
    available: int | None = None
    hold_id: UUID | None = None
    held: int | None = None
    until: datetime | None = None


class HoldAnswer(BaseModel):
    """Points that are held."""

    hold_id: UUID
    program: str
    points: int
    until: datetime
    status: str


class HoldsAnswer(BaseModel):
    """A member's open holds."""

    model_config = _with_example({"member_id": "bob", "holds": [_HOLD]})

    member_id: str
    holds: list[HoldAnswer]


class LotAnswer(BaseModel):
    """What remains of a transfer that added points. The oldest are spent first."""

    id: str
    program: str
    seq: int
    key: str
    kind: str
    points: int
    remaining: int
    occurred_at: datetime
    expires_on: date | None


class LotsAnswer(BaseModel):
    """A page, the oldest first; `next` is the cursor of the next one, if there is one."""

    model_config = _with_example(
        {
            "member_id": "bob",
            "lots": [
                {
                    "id": "bob:GRP:1",
                    "program": "GRP",
                    "seq": 1,
                    "key": "txn:rides:T-1001",
                    "kind": "earn",
                    "points": 180,
                    "remaining": 100,
                    "occurred_at": "2026-01-10T04:30:00Z",
                    "expires_on": "2026-07-31",
                }
            ],
            "next": None,
        }
    )

    member_id: str
    lots: list[LotAnswer]
    next: str | None


class AdjustmentAnswer(BaseModel):
    """An adjustment that needs, or needed, a second person."""

    model_config = _with_example(_ADJUSTMENT)

    adjustment_id: UUID
    member_id: str
    program: str
    country: str
    points: int
    reason: str
    actor: str
    status: Literal["pending", "approved", "posted", "rejected"]
    asked_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    note: str | None


class AdjustmentsAnswer(BaseModel):
    """The newest first."""

    model_config = _with_example({"adjustments": [_ADJUSTMENT]})

    adjustments: list[AdjustmentAnswer]


class TransfersAnswer(BaseModel):
    """A page, the newest first; `next` is the cursor of the next one, if there is one."""

    model_config = _with_example({"transfers": [_TRANSFER], "next": "eyJzIjozfQ"})

    transfers: list[TransferAnswer]
    next: str | None


def worth(award: Award) -> dict[str, Any]:
    return {
        "points": award.points,
        "program": award.program,
        "member_id": award.member_id,
        "expires_on": award.expires_on,
        "explanation": orjson.Fragment(award.explanation),
    }


def queued(award_id: UUID, accepted: Accepted) -> dict[str, Any]:
    answer = {"award_id": award_id, "status": AwardStatus.QUEUED, **worth(accepted.award)}
    return answer | {"provisional": True} if accepted.provisional else answer


def state(found: AwardState) -> dict[str, Any]:
    known = {"posted_at": found.posted_at, "balance": found.balance, "reason": found.reason, "detail": found.detail}
    return {
        "award_id": str(found.award_id),
        "status": found.status,
        **worth(found.award),
        **({"provisional": True} if found.provisional else {}),
        **{name: value for name, value in known.items() if value is not None},
    }


def member(member_id: str, accounts: Iterable[AccountAsOf]) -> dict[str, Any]:
    shown = [
        {
            "program": each.program,
            "balance": each.balance,
            "held": each.held,
            "available": each.available,
            "tier": each.tier,
            "expires_on": each.expires_on,
        }
        for each in accounts
    ]
    return {"member_id": member_id, "accounts": shown}


def transfer(each: Transfer) -> dict[str, Any]:
    return {
        "id": f"{each.member_id}:{each.program}:{each.seq}",
        "program": each.program,
        "seq": each.seq,
        "kind": each.kind,
        "points": each.points,
        "balance_after": each.balance_after,
        "key": each.key,
        "country": each.country,
        "occurred_at": each.occurred_at,
        "posted_at": each.posted_at,
        "expires_on": each.expires_on,
        "reverses": each.reverses,
        "actor": each.actor,
        "explanation": orjson.Fragment(each.explanation),
    }


def moved(each: Transfer) -> dict[str, Any]:
    return {**transfer(each), "member_id": each.member_id, "balance": each.balance_after, **_available(each)}


def _available(each: Transfer) -> dict[str, Any]:
    """What a movement left available, and its hold. Of a transfer whose explanation this version does not know, nothing
    is told.
    """
    try:
        explanation = read(each.explanation)
    except SetAside:
        return {}
    match explanation:
        case Held():
            told = {"available": explanation.available, "hold_id": explanation.hold, "held": explanation.held}
            return told | {"until": explanation.until}
        case Captured() | Released():
            return {"available": explanation.available, "hold_id": explanation.hold, "held": explanation.held}
        case Spent():
            return {"available": explanation.available}
        case _:
            return {}


def hold(each: Hold) -> dict[str, Any]:
    return {
        "hold_id": str(each.hold_id),
        "program": each.program,
        "points": each.points,
        "until": each.until,
        "status": each.status,
    }


def lot(member_id: str, each: Remaining) -> dict[str, Any]:
    return {"id": f"{member_id}:{each.program}:{each.seq}", **each._asdict()}


def adjustment(each: Requested) -> dict[str, Any]:
    shown = each._asdict() | {"adjustment_id": str(each.adjustment_id)}
    return {name: shown[name] for name in AdjustmentAnswer.model_fields}


def json_answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(content), status, media_type="application/json", headers=headers)
