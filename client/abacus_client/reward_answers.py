"""The answers about rewards, and about what points pay at a till, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class PointQuote:
    """These points pay this money, by the card that is in force; `available` points can be spent."""

    member_id: str
    program: str
    country: str
    points: int
    money: Decimal
    currency: str
    available: int
    card: str


@dataclass(frozen=True, slots=True)
class Lock:
    """A reason against a reward for the member, now."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Reward:
    """A reward as a member sees it. It is `affordable` where no points are missing."""

    name: str
    version: int
    country: str
    texts: Mapping[str, Any]
    picture: str | None
    points: int
    ends_at: datetime
    affordable: bool
    locks: tuple[Lock, ...]


@dataclass(frozen=True, slots=True)
class Rewards:
    """The rewards that are there for a member, the cheapest first. `degraded`: rewards may be missing."""

    member_id: str
    rewards: tuple[Reward, ...]
    degraded: bool = False


@dataclass(frozen=True, slots=True)
class RewardRedemption:
    """A redemption of a reward. One piece by a code has `code`, several have `codes`. A `campaign` gave it without
    points, where there is one.
    """

    redemption_id: UUID
    reward: str
    version: int
    member_id: str
    quantity: int
    points: int
    money: Decimal
    status: str
    asked_at: datetime
    code: str | None = None
    codes: tuple[str, ...] = ()
    campaign: str | None = None
