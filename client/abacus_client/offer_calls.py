"""The calls that ask for offers and take them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Literal, NotRequired, TypedDict
from uuid import UUID

import httpx

from abacus_client.calls import Call, as_json, checked_key, named, part
from abacus_client.decode import read_answer, was_replayed
from abacus_client.offer_answers import OfferRedemption, Qualified, Reservation, ValidatedOffer

Scenario = Literal["best", "all", "basket"]


class OfferItem(TypedDict):
    """A line of a basket, or a product of a page. `price` is that of one piece, and never a float; categories go from
    the widest to the narrowest.
    """

    id: str
    product: str
    merchant: str
    brand: str
    categories: Sequence[str]
    price: str | Decimal
    currency: str
    quantity: NotRequired[int]
    var: NotRequired[Mapping[str, str | int | bool | Decimal | datetime | Sequence[str]]]


@dataclass(frozen=True, slots=True)
class _Validated:
    offers: tuple[ValidatedOffer, ...]


@dataclass(frozen=True, slots=True)
class _Reservations:
    reservations: tuple[Reservation, ...]


def qualify(
    country: str, items: Iterable[OfferItem], member_id: str | None, scenario: Scenario, *, explain: bool
) -> Call[Qualified]:
    body = named(member_id=member_id, country=country, scenario=scenario, explain=explain or None)
    return Call("POST", "/v1/offers/qualify", _qualified, as_json({**body, "items": list(items)}))


def validate(
    country: str, items: Iterable[OfferItem], member_id: str | None, offers: Iterable[str], codes: Iterable[str]
) -> Call[list[ValidatedOffer]]:
    body = {"country": country, "items": list(items), "offers": list(offers), "codes": list(codes)}
    return Call("POST", "/v1/offers/validate", _validated, as_json({**body, **named(member_id=member_id)}))


def reserve(
    offer: str, member_id: str, item: OfferItem, code: str | None, idempotency_key: str | None
) -> Call[Reservation]:
    body = named(member_id=member_id, item=item, code=code)
    key = checked_key(idempotency_key)
    path = f"/v1/offers/{part(offer)}/reservations"
    return Call("POST", path, _reservation, as_json(body), (key,), headers={"Idempotency-Key": key})


def reserve_several(
    member_id: str,
    items: Iterable[OfferItem],
    offers: Iterable[str],
    codes: Iterable[str],
    idempotency_key: str | None,
) -> Call[list[Reservation]]:
    key = checked_key(idempotency_key)
    body = {"member_id": member_id, "items": list(items), "offers": list(offers), "codes": list(codes)}
    headers = {"Idempotency-Key": key}
    return Call("POST", "/v1/offer-reservations", _reservations, as_json(body), (key,), headers=headers)


def redeem(
    reservation_id: UUID | str, items: Iterable[OfferItem], saves: Decimal | str | None, points: int | None
) -> Call[OfferRedemption]:
    """A reservation is its own key: it is redeemed once."""
    body = {"items": list(items), **named(saves=saves, points=points)}
    return Call("POST", f"/v1/reservations/{part(str(reservation_id))}/redeem", _redemption, as_json(body))


def release(reservation_id: UUID | str) -> Call[Reservation]:
    return Call("POST", f"/v1/reservations/{part(str(reservation_id))}/release", _reservation)


def roll_back(
    redemption_id: UUID | str, saves: Decimal | str | None, idempotency_key: str | None
) -> Call[OfferRedemption]:
    key = checked_key(idempotency_key)
    path = f"/v1/redemptions/{part(str(redemption_id))}/rollback"
    return Call("POST", path, _redemption, as_json(named(saves=saves)), (key,), headers={"Idempotency-Key": key})


def _qualified(answer: httpx.Response, _: Sequence[str]) -> Qualified:
    return read_answer(Qualified, answer)


def _validated(answer: httpx.Response, _: Sequence[str]) -> list[ValidatedOffer]:
    return list(read_answer(_Validated, answer).offers)


def _reservation(answer: httpx.Response, _: Sequence[str]) -> Reservation:
    return replace(read_answer(Reservation, answer), replayed=was_replayed(answer))


def _reservations(answer: httpx.Response, _: Sequence[str]) -> list[Reservation]:
    replayed = was_replayed(answer)
    return [replace(each, replayed=replayed) for each in read_answer(_Reservations, answer).reservations]


def _redemption(answer: httpx.Response, _: Sequence[str]) -> OfferRedemption:
    return replace(read_answer(OfferRedemption, answer), replayed=was_replayed(answer))
