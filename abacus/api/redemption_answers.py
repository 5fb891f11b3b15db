"""What callers ask of redemptions, and what they are answered; the problem of each lock."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from abacus.api.answer_schemas import with_example
from abacus.api.api_problem import ApiProblem, FieldFault
from abacus.core.points import MAX_POINTS, plain
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.redemption_desk import MOST_PIECES, Listed
from abacus.intake.partners.decide.ask import ReasonText

_PAGE: Final = 50
_MOST_ON_PAGE: Final = 100
_EXAMPLE: Final = {
    "redemption_id": "0d1f6c4e-1b7a-5f0e-9a55-2f5a6c0c7a11",
    "reward": "coffee",
    "version": 1,
    "member_id": "bob",
    "quantity": 1,
    "points": 500,
    "money": "0",
    "status": "given",
    "code": "KOPI-0001",
    "asked_at": "2026-11-27T09:00:00+00:00",
}

_LOCK: Final = {"reason": "points", "detail": "120 points are missing"}
_LISTED: Final = {
    "name": "coffee",
    "version": 1,
    "country": "SG",
    "texts": {"en": {"title": "A coffee", "description": "", "terms": "At any of our counters."}},
    "picture": None,
    "points": 500,
    "ends_at": "2027-01-01T00:00:00+08:00",
    "affordable": False,
    "locks": [_LOCK],
}

# The problem of each lock.
_PROBLEMS: Final[Mapping[Lock, str]] = {
    Lock.POINTS: "insufficient-points",
    Lock.CLOSED: "reward-closed",
    Lock.COUNTRY: "other-country",
    Lock.AUDIENCE: "reward-locked",
    Lock.STOCK: "reward-gone",
    Lock.DAY: "reward-gone",
    Lock.CODES: "reward-gone",
    Lock.MEMBER: "reward-limit-reached",
    Lock.MEMBER_DAY: "reward-limit-reached",
    Lock.INVITED: "reward-limit-reached",
    Lock.HOLD: "hold-not-open",
}


class RedemptionOrder(BaseModel):
    """The reward, and how many pieces. With `points` the member pays no more points than that, and the rest in money,
    where the reward allows it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": [{"reward": "coffee"}]})

    reward: Annotated[str, Field(pattern=f"^{NAME_PATTERN}$")]
    quantity: Annotated[int, Field(strict=True, ge=1, le=MOST_PIECES)] = 1
    points: Annotated[int | None, Field(strict=True, ge=0, le=MAX_POINTS)] = None


class Reported(StrEnum):
    """What a fulfiller says."""

    FULFILLED = "fulfilled"
    FAILED = "failed"


class FulfilmentReport(BaseModel):
    """Delivered, or never to be: then the points come back."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": [{"state": "fulfilled"}]})

    state: Reported
    detail: ReasonText | None = None


class RedemptionAnswer(BaseModel):
    """A redemption. One piece by a code has `code`, several have `codes`. It is `late` where the fulfiller has not
    reported in time. A `campaign` gave it without points.
    """

    model_config = with_example(_EXAMPLE)

    redemption_id: UUID
    reward: str
    version: int
    member_id: str
    quantity: int
    points: int
    money: str
    status: str
    code: str | None = None
    codes: list[str] | None = None
    asked_at: datetime
    campaign: str | None = None


class RedemptionPage(BaseModel):
    """The query parameters for a page of a member's redemptions."""

    model_config = ConfigDict(extra="forbid")

    cursor: Annotated[str | None, Field(description="The `next` of the page before.", max_length=200)] = None
    limit: Annotated[int, Field(ge=1, le=_MOST_ON_PAGE)] = _PAGE


class RedemptionsAnswer(BaseModel):
    """A page, the newest first; `next` is the cursor of the next one, if there is one."""

    model_config = with_example({"member_id": "bob", "redemptions": [{**_EXAMPLE, "code": None}], "next": None})

    member_id: str
    redemptions: list[RedemptionAnswer]
    next: str | None


class LockAnswer(BaseModel):
    """A reason against a reward for the member, now."""

    model_config = with_example(_LOCK)

    reason: Lock
    detail: str


class ListedRewardAnswer(BaseModel):
    """A reward as a member sees it. It is `affordable` where no points are missing."""

    model_config = with_example(_LISTED)

    name: str
    version: int
    country: str
    texts: dict[str, dict[str, str]]
    picture: str | None
    points: int
    ends_at: datetime
    affordable: bool
    locks: list[LockAnswer]


class MemberRewardsAnswer(BaseModel):
    """The rewards that are there for a member, the cheapest first. It is `degraded` where rewards may be missing,
    because what they ask of the member cannot be told now.
    """

    model_config = with_example({"member_id": "bob", "rewards": [_LISTED], "degraded": False})

    member_id: str
    rewards: list[ListedRewardAnswer]
    degraded: bool


def redemption_facts(each: Redemption, now: datetime) -> dict[str, Any]:
    by = {} if each.campaign is None else {"campaign": each.campaign}
    return {
        "redemption_id": str(each.redemption_id),
        "reward": each.reward,
        "version": each.version,
        "member_id": each.member_id,
        "quantity": each.quantity,
        "points": each.points,
        "money": plain(each.money),
        "status": each.status(now),
        "asked_at": each.asked_at,
        **by,
    }


def problem_of_lock(fault: Locked) -> ApiProblem:
    kind = _PROBLEMS[fault.lock]
    if fault.lock is Lock.COUNTRY:
        return ApiProblem(kind, fault.detail, errors=[FieldFault(pointer="/reward", detail=fault.detail)])
    return ApiProblem(kind, fault.detail)


def listed_reward(each: Listed) -> dict[str, Any]:
    """A reward as a member sees it."""
    return {
        "name": each.reward.name,
        "version": each.reward.version,
        "country": each.reward.country,
        "texts": {language: texts._asdict() for language, texts in each.reward.texts.items()},
        "picture": each.reward.picture,
        "points": each.points,
        "ends_at": each.reward.ends_at,
        "affordable": not any(lock.lock is Lock.POINTS for lock in each.locks),
        "locks": [{"reason": lock.lock, "detail": lock.detail} for lock in each.locks],
    }
