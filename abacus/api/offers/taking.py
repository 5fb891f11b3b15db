"""The routes that take offers: hold them, redeem what is held, release it, and roll back what was redeemed."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final
from uuid import UUID

import orjson
from fastapi import APIRouter, Path, Request
from pydantic import TypeAdapter
from starlette.responses import Response

from abacus.api.api_problem import ApiProblem
from abacus.api.auth import Call, call_of
from abacus.api.hot_paths import Address
from abacus.api.idempotency import idempotency_key_of
from abacus.api.lean import LeanRoute, read_body
from abacus.api.offers.asked import OfferName, item_of, spots_of
from abacus.api.offers.guesses import Guesses
from abacus.api.offers.taken import (
    RedeemOrder,
    RedemptionAnswer,
    ReservationAnswer,
    ReservationsAnswer,
    ReserveOrder,
    ReserveSeveralOrder,
    RollbackOrder,
    basket_of,
    facts_of,
    gain_told,
    micros_of,
    reader_of,
    redemption_told,
    reservation_told,
)
from abacus.api.route_description import answered, described, key_header
from abacus.core.errors import Absent, SetAside
from abacus.engage.limits.types import MICROS
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.reservation import (
    Ended,
    GainChanged,
    LimitReached,
    OtherFacts,
)
from abacus.engage.offers.decide.settlement import TooMuch
from abacus.engage.offers.decide.single_code import CodeRefused, CodeUnknown
from abacus.engage.offers.decide.together import NotTogether
from abacus.engage.offers.qualifier import OtherCountry, Qualifier
from abacus.engage.offers.reservations import Held
from abacus.engage.offers.till import DoesNotFit, Order, Paying, Till
from abacus.intake.partners.decide.ask import Objection
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import PublishedCard

router = APIRouter(prefix="/v1", tags=["offers"], route_class=LeanRoute, default_response_class=Response)

KEY_HEADER: Final = key_header("reservation")
ROLLBACK_HEADER: Final = key_header("rollback")

ReservationId = Annotated[UUID, Path()]

LEAN: Final = (
    Address("POST", "/v1/offers/{name}/reservations"),
    Address("POST", "/v1/reservations/{reservation_id}/redeem"),
)

_ROLLBACK: Final[TypeAdapter[RollbackOrder | None]] = TypeAdapter(RollbackOrder | None)


@router.post(
    "/offers/{name}/reservations",
    status_code=201,
    summary="Hold an offer for a member",
    responses=answered({201: (ReservationAnswer, "It is held")}, 404, 409, 415, 422),
    openapi_extra=described(KEY_HEADER, body=ReserveOrder),
)
async def reserve(name: OfferName, request: Request) -> Response:
    """A use of the offer, and its money, are held until `until`, then they are free again. The same key and facts get
    the first answer again.
    """
    call, key = _taker(request), idempotency_key_of(request)
    order = await read_body(request, ReserveOrder.model_validate)
    codes = [] if order.code is None else [order.code]
    several = ReserveSeveralOrder.model_construct(
        member_id=order.member_id, items=[order.item], offers=[name], codes=codes
    )
    spots = await spots_of(several.items, call.rooms[Qualifier].spots)
    held = await _held(call, key, several, lambda card: [item_of(order.item, "/item", card.card, spots)])
    return _json(reservation_told(held.reservations[0]), 201, replayed=held.replayed)


@router.post(
    "/offer-reservations",
    status_code=201,
    summary="Hold several offers together",
    responses=answered({201: (ReservationsAnswer, "All are held")}, 404, 409, 415, 422),
    openapi_extra=described(KEY_HEADER, body=ReserveSeveralOrder),
)
async def reserve_several(request: Request) -> Response:
    """All of the offers are held, or none is. Each counts for the item on which it gives most."""
    call, key = _taker(request), idempotency_key_of(request)
    order = await read_body(request, ReserveSeveralOrder.model_validate)
    spots = await spots_of(order.items, call.rooms[Qualifier].spots)
    held = await _held(call, key, order, reader_of(order.items, spots))
    return _json({"reservations": [reservation_told(each) for each in held.reservations]}, 201, replayed=held.replayed)


@router.post(
    "/reservations/{reservation_id}/redeem",
    status_code=201,
    summary="Redeem what is held",
    responses=answered({201: (RedemptionAnswer, "It is redeemed")}, 404, 409, 415, 422),
    openapi_extra=described(body=RedeemOrder),
)
async def redeem(reservation_id: ReservationId, request: Request) -> Response:
    """The basket is looked at again. Where it gains something else than was reserved, the problem `offer-changed` has
    both; name the new gain to redeem with it. A reservation is redeemed once; a repetition gets the first answer.
    """
    call = _taker(request)
    order = await read_body(request, RedeemOrder.model_validate)
    saves = None if order.saves is None else micros_of(order.saves)
    spots = await spots_of(order.items, call.rooms[Qualifier].spots)
    basket, reader = basket_of(order.items), reader_of(order.items, spots)
    paying = Paying(reservation_id, call.agent.source, basket, reader, saves, order.points)
    with _Problems():
        settled = await call.rooms[Till].redeem(paying)
    assert settled.redemption is not None  # noqa: S101  # it was redeemed
    return _json(redemption_told(settled.redemption), 201, replayed=settled.replayed)


@router.post(
    "/reservations/{reservation_id}/release",
    summary="Release what is held",
    responses=answered({200: (ReservationAnswer, "It is free again")}, 404, 409, 422),
)
async def release(reservation_id: ReservationId, request: Request) -> Response:
    """The use and its money are free again at once."""
    call = _taker(request)
    with _Problems():
        settled = await call.rooms[Till].release(reservation_id, call.agent.source)
    return _json(reservation_told(settled.reservation), 200, replayed=settled.replayed)


@router.post(
    "/redemptions/{redemption_id}/rollback",
    summary="Roll a redemption back",
    responses=answered({200: (RedemptionAnswer, "It is rolled back")}, 404, 409, 415, 422),
    openapi_extra=described(ROLLBACK_HEADER, body=RollbackOrder, required=False),
)
async def rollback(redemption_id: ReservationId, request: Request) -> Response:
    """In whole, or so much of what it saved. The money is free for the offer's limits at once, the use when all is
    rolled back, and points are taken back as those of a refund are. Each part counts once a key.
    """
    call, key = _taker(request), idempotency_key_of(request)
    order = await read_body(request, _ROLLBACK.validate_python) or RollbackOrder()
    till = call.rooms[Till]
    with _Problems():
        redemption = await till.redeemed(redemption_id, call.agent.source)
        saves = None if order.saves is None else micros_of(order.saves)
        return _json(redemption_told(await till.roll_back(redemption, key, saves)), 200)


def _taker(request: Request) -> Call:
    """The partner of the request. Raises `ApiProblem` for others, and for a partner that may not use offers."""
    call = call_of(request)
    if not call.partner.may_use_offers:
        raise ApiProblem("offers-not-allowed")
    return call


async def _held(
    call: Call, key: str, wanted: ReserveSeveralOrder, priced: Callable[[PublishedCard], Sequence[Item]]
) -> Held:
    basket, offers, codes = basket_of(wanted.items), wanted.offers, wanted.codes
    order = Order(
        caller=call.agent.source,
        key=f"reservation:{call.key(key)}",
        fingerprint=facts_of(wanted, basket),
        member_id=wanted.member_id,
        offers=offers,
        codes=codes,
        basket=basket,
        items_of=_checked(call, priced),
    )
    guesses = call.rooms[Guesses]
    if codes:
        guesses.check(call)
    with _Problems():
        try:
            return await call.rooms[Till].reserve(order)
        except CodeUnknown as error:
            await guesses.count(call, error.count)
            raise


def _checked(
    call: Call, priced: Callable[[PublishedCard], Sequence[Item]]
) -> Callable[[PublishedCard], Sequence[Item]]:
    def read(card: PublishedCard) -> Sequence[Item]:
        call.check(Deed.SEE, card.card.scope)
        return priced(card)

    return read


class _Problems:
    """Turns what the till raises into problems."""

    def __enter__(self) -> None:
        """Nothing has to be prepared."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        extra: dict[str, Any]
        match error:
            case Absent():
                raise ApiProblem("not-found", str(error)) from None
            case DoesNotFit() | NotTogether() | CodeRefused():
                extra = {"offer": error.offer, "reason": error.reason}
                raise ApiProblem("offer-refused", str(error), extra=extra) from None
            case LimitReached():
                extra = {"offer": error.offer, "limit": f"{error.scope}.{error.what}"}
                raise ApiProblem("offer-limit-reached", str(error), extra=extra) from None
            case OtherFacts():
                raise ApiProblem("idempotency-key-reused") from None
            case Ended():
                raise ApiProblem("reservation-ended", str(error), extra={"reservation_status": error.status}) from None
            case GainChanged():
                extra = {"reserved": gain_told(error.reserved), "now": gain_told(error.now)}
                raise ApiProblem("offer-changed", extra=extra) from None
            case TooMuch():
                raise ApiProblem("rollback-too-large", f"{Decimal(error.left) / MICROS} is left") from None
            case OtherCountry():
                raise Objection("other-country", str(error), "/member_id") from None
            case SetAside():
                raise Objection(str(error.reason), error.detail, "/member_id") from None


def _json(document: dict[str, Any], status: int, *, replayed: bool = False) -> Response:
    headers = {"Idempotency-Replayed": "true"} if replayed else {}
    body = orjson.dumps(document, option=orjson.OPT_UTC_Z)
    return Response(body, status, media_type="application/json", headers=headers)
