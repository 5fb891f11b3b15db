"""The bodies of what takes offers, and what is answered."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final
from uuid import UUID

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from abacus.api.offers.asked import AskedItem, Code, Id, Items, OfferName, items_of
from abacus.core.ids import fingerprint
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.paid import micros_text
from abacus.engage.offers.decide.reservation import MOST_TOGETHER, Gain, Redemption, Reservation
from abacus.engage.offers.decide.spot import Spot
from abacus.pricing.decide.card import PublishedCard

Money = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,11}(\.[0-9]{1,4})?$")]

_ITEM: Final[dict[str, Any]] = {
    "id": "1",
    "product": "laksa",
    "merchant": "m-17",
    "brand": "hawker",
    "categories": ["food", "noodles"],
    "price": "12.00",
    "currency": "SGD",
}


class ReserveOrder(BaseModel):
    """An item for which a member wants to take the offer. `code` admits to an offer by code."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"member_id": "bob", "item": _ITEM}]})

    member_id: Id
    item: AskedItem
    code: Code | None = None


class ReserveSeveralOrder(BaseModel):
    """Offers that a member wants to take together for these items: all of them, or none."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"member_id": "bob", "items": [_ITEM], "offers": ["lunch_20", "tea_bonus"]}]},
    )

    member_id: Id
    items: Items
    offers: Annotated[list[OfferName], Field(min_length=1, max_length=MOST_TOGETHER)]
    codes: Annotated[list[Code], Field(max_length=MOST_TOGETHER)] = []


class RedeemOrder(BaseModel):
    """The basket that is paid. Name what it saves, or the points, where that is not what was reserved."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"items": [_ITEM], "saves": "2.40"}]})

    items: Items
    saves: Money | None = None
    points: Annotated[int, Field(strict=True, ge=0)] | None = None


class RollbackOrder(BaseModel):
    """How much of what was saved is taken back; without it, all that is left, and the points."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"saves": "1.20"}]})

    saves: Money | None = None


_RESERVATION: Final[dict[str, Any]] = {
    "reservation_id": "03c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33",
    "offer": "lunch_20",
    "version": 1,
    "member_id": "bob",
    "status": "held",
    "saves": "2.40",
    "points": 0,
    "currency": "SGD",
    "until": "2026-11-27T04:10:00Z",
}
_REDEMPTION: Final[dict[str, Any]] = {
    "redemption_id": "03d1a7f0-51b8-8b44-9f2b-1c9f6d1f2a35",
    "offer": "lunch_20",
    "version": 1,
    "member_id": "bob",
    "saves": "2.40",
    "points": 0,
    "currency": "SGD",
    "redeemed_at": "2026-11-27T04:05:00Z",
    "saves_rolled_back": "0.00",
    "points_rolled_back": 0,
}


class ReservationAnswer(BaseModel):
    """A reservation: what the offer gives, and until when it is held."""

    model_config = ConfigDict(json_schema_extra={"examples": [_RESERVATION]})

    reservation_id: UUID
    offer: str
    version: int
    member_id: str
    status: str
    saves: str
    points: int
    currency: str
    until: datetime


class ReservationsAnswer(BaseModel):
    """Reservations that were made together, in the order of the offers."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"reservations": [_RESERVATION]}]})

    reservations: list[ReservationAnswer]


class RedemptionAnswer(BaseModel):
    """A redemption: what it gave, and what of that was rolled back."""

    model_config = ConfigDict(json_schema_extra={"examples": [_REDEMPTION]})

    redemption_id: UUID
    offer: str
    version: int
    member_id: str
    saves: str
    points: int
    currency: str
    redeemed_at: datetime
    saves_rolled_back: str
    points_rolled_back: int


def basket_of(items: Sequence[AskedItem]) -> str:
    """As it is kept."""
    return orjson.dumps([each.model_dump(mode="json", exclude_none=True) for each in items]).decode()


def reader_of(items: Sequence[AskedItem], spots: Mapping[str, Spot]) -> Callable[[PublishedCard], Sequence[Item]]:
    """Reads the items, priced in the currency of a card."""
    return lambda card: items_of(items, card.card, spots)


def facts_of(order: ReserveSeveralOrder, basket: str) -> str:
    """Equal keys with other facts are a conflict."""
    return fingerprint((order.member_id, ",".join(order.offers), ",".join(order.codes), basket))


def micros_of(money: str) -> int:
    """In millionths."""
    return int(Decimal(money) * MICROS)


def gain_told(gain: Gain) -> dict[str, Any]:
    return {"saves": micros_text(gain.saves, gain.currency), "points": gain.points}


def reservation_told(row: Reservation) -> dict[str, Any]:
    return {
        "reservation_id": str(row.reservation_id),  # the driver has a type of its own
        "offer": row.offer,
        "version": row.version,
        "member_id": row.member_id,
        "status": row.status,
        "saves": micros_text(row.saves, row.currency),
        "points": row.points,
        "currency": row.currency,
        "until": row.until,
    }


def redemption_told(row: Redemption) -> dict[str, Any]:
    return {
        "redemption_id": str(row.redemption_id),
        "offer": row.offer,
        "version": row.version,
        "member_id": row.member_id,
        "saves": micros_text(row.saves, row.currency),
        "points": row.points,
        "currency": row.currency,
        "redeemed_at": row.redeemed_at,
        "saves_rolled_back": micros_text(row.saves_back, row.currency),
        "points_rolled_back": row.points_back,
    }
