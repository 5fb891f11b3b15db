"""The items of a batch of movements, and the movements that they become. Pure.

An item of a hold that is captured or released is known by its hold, as on the route of its own: a hold is settled once,
under whichever key it is asked.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeAlias, assert_never
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, SkipValidation, StringConstraints, TypeAdapter

from abacus.core.ids import IDEMPOTENCY_KEY_PATTERN
from abacus.core.sources import Agent
from abacus.intake.earning.decide.transaction_message import Id
from abacus.intake.partners.orders import (
    CaptureOrder,
    HoldOrder,
    SpendOrder,
    Target,
    capture_of,
    hold_of,
    let_go,
    spend_of,
)
from abacus.ledger.types.movement import Hold, Movement

MOST_MOVEMENTS: Final = 100  # of one request


def _with_example(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": [example]})


class _Item(BaseModel):
    """One movement, under the caller's own key."""

    idempotency_key: Annotated[str, StringConstraints(pattern=IDEMPOTENCY_KEY_PATTERN)]
    member_id: Id


_SPEND: Final[dict[str, Any]] = {
    "idempotency_key": "till-1",
    "kind": "spend",
    "member_id": "bob",
    "points": 5,
    "reason": "A coffee",
}
_HOLD: Final[dict[str, Any]] = {
    "idempotency_key": "till-2",
    "kind": "hold",
    "member_id": "eve",
    "points": 40,
    "expires_in": 900,
}
_HELD: Final = {"member_id": "eve", "hold_id": "3f0c1f5e-0d0b-5d0e-9a41-6f1c0c4e7b0f"}


class SpendItem(_Item, SpendOrder):
    """Points that the member pays with."""

    model_config = _with_example(_SPEND)

    kind: Literal["spend"]


class HoldItem(_Item, HoldOrder):
    """Points to be kept until they are captured or released."""

    model_config = _with_example(_HOLD)

    kind: Literal["hold"]


class CaptureItem(_Item, CaptureOrder):
    """All of a hold is spent, or `points` of it; the rest is released."""

    model_config = _with_example({"idempotency_key": "till-3", "kind": "capture", **_HELD})

    kind: Literal["capture"]
    hold_id: UUID


class ReleaseItem(_Item):
    """The held points are available again."""

    model_config = _with_example({"idempotency_key": "till-4", "kind": "release", **_HELD})

    kind: Literal["release"]
    hold_id: UUID


Settling: TypeAlias = CaptureItem | ReleaseItem
Asked: TypeAlias = SpendItem | HoldItem | CaptureItem | ReleaseItem
Item = Annotated[Asked, Field(discriminator="kind")]

READERS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "spend": TypeAdapter(SpendItem),
    "hold": TypeAdapter(HoldItem),
    "capture": TypeAdapter(CaptureItem),
    "release": TypeAdapter(ReleaseItem),
}


class MovementsAsk(BaseModel):
    """Many movements, each under its own key; each succeeds or fails by itself."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"movements": [_SPEND, _HOLD]}]})

    # The items are not validated here but one by one, so that a bad item does not spoil its neighbours.
    movements: Annotated[list[SkipValidation[Item]], Field(min_length=1, max_length=MOST_MOVEMENTS)]


def movement_of(item: SpendItem | HoldItem, target: Target, key: str, agent: Agent, now: datetime) -> Movement:
    """Raises `Objection` for money that the points do not pay."""
    match item:
        case SpendItem():
            return spend_of(item, target, key, agent)
        case HoldItem():
            return hold_of(item, target, key, agent, now)
        case _:
            assert_never(item)


def settlement_of(item: Settling, held: Hold, agent: Agent) -> Movement:
    return capture_of(item, held, agent) if isinstance(item, CaptureItem) else let_go(held, agent)


def named_twice(asked: Sequence[tuple[int, Asked]]) -> dict[int, int]:
    """The places of items whose key an earlier one has with another body, each with that earlier place. A repetition
    of the same body is no fault.
    """
    first: dict[str, tuple[int, Asked]] = {}
    twice: dict[int, int] = {}
    for place, item in asked:
        earlier = first.setdefault(item.idempotency_key, (place, item))
        if earlier[1] != item:
            twice[place] = earlier[0]
    return twice
