"""What the API answers, as frozen values, and how it is read. Fields that are not named here are ignored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final, Literal
from uuid import UUID

import httpx
from pydantic import TypeAdapter

from abacus.client.problem import Problem


@dataclass(frozen=True, slots=True)
class Worth:
    """Points and how they came about."""

    points: int
    program: str
    member_id: str
    expires_on: date
    explanation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Award(Worth):
    """An award and how far it has come. `balance` is the account's after the award, once it is posted."""

    award_id: UUID
    status: Literal["queued", "posted", "rejected", "quarantined"]
    posted_at: datetime | None = None
    balance: int | None = None
    reason: str | None = None
    detail: str | None = None
    provisional: bool = False  # the points of a member without a tier; the tier counts before they are posted
    replayed: bool = False  # the queue had it already, from an earlier call or from an earlier try of this one
    idempotency_key: str | None = None  # unknown where the award was asked for by its id


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What became of one award of a batch: it has an `award`, or a `problem` if it was refused."""

    idempotency_key: str | None
    outcome: Literal["accepted", "replayed", "refused"]
    award: Award | None = None
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
    """A member's accounts, as far as they are open to the partner; `as_of` when they were so, where that was asked."""

    member_id: str
    accounts: tuple[Account, ...]
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True)
class Transfer:
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
    explanation: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Movement(Transfer):
    """A spend, a hold, its capture or release, a reversal or an adjustment, as it is posted. `available` is what can be
    spent after it.
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
class Pending:
    """An adjustment that waits for a second person."""

    adjustment_id: UUID
    member_id: str
    program: str
    points: int
    reason: str
    actor: str
    status: str


@dataclass(frozen=True, slots=True)
class Lot:
    """What remains of a transfer that added points."""

    id: str
    program: str
    seq: int
    key: str
    kind: str
    points: int
    remaining: int
    occurred_at: datetime
    expires_on: date | None


@dataclass(frozen=True, slots=True)
class LotPage:
    """Some of what remains; `next` is the cursor of the page after."""

    lots: tuple[Lot, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a member's transfers; `next` is the cursor of the page after."""

    transfers: tuple[Transfer, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class _Batch:
    results: tuple[BatchResult, ...]


_WORTH: Final = TypeAdapter(Worth)
_AWARD: Final = TypeAdapter(Award)
_BATCH: Final = TypeAdapter(_Batch)
_MEMBER: Final = TypeAdapter(Member)
_PAGE: Final = TypeAdapter(Page)
_MOVEMENT: Final = TypeAdapter(Movement)
_PENDING: Final = TypeAdapter(Pending)
_LOTS: Final = TypeAdapter(LotPage)
_ACCEPTED: Final = 202


# Each raises `ValueError` for what it cannot read.


def read_worth(answer: httpx.Response, _: Sequence[str]) -> Worth:
    return _WORTH.validate_json(answer.content)


def read_award(answer: httpx.Response, keys: Sequence[str]) -> Award:
    replayed = answer.headers.get("Idempotency-Replayed") == "true"
    return replace(_AWARD.validate_json(answer.content), replayed=replayed, idempotency_key=next(iter(keys), None))


def read_batch(answer: httpx.Response, _: Sequence[str]) -> list[BatchResult]:
    return [
        replace(
            each,
            award=each.award
            and replace(each.award, replayed=each.outcome == "replayed", idempotency_key=each.idempotency_key),
        )
        for each in _BATCH.validate_json(answer.content).results
    ]


def read_member(answer: httpx.Response, _: Sequence[str]) -> Member:
    return _MEMBER.validate_json(answer.content)


def read_page(answer: httpx.Response, _: Sequence[str]) -> Page:
    return _PAGE.validate_json(answer.content)


def read_movement(answer: httpx.Response, _: Sequence[str]) -> Movement:
    replayed = answer.headers.get("Idempotency-Replayed") == "true"
    return replace(_MOVEMENT.validate_json(answer.content), replayed=replayed)


def read_adjustment(answer: httpx.Response, keys: Sequence[str]) -> Movement | Pending:
    if answer.status_code == _ACCEPTED:
        return _PENDING.validate_json(answer.content)
    return read_movement(answer, keys)


def read_lots(answer: httpx.Response, _: Sequence[str]) -> LotPage:
    return _LOTS.validate_json(answer.content)
