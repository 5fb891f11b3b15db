"""The one door to taking offers: what they give is judged as for asking, then held, redeemed, released, rolled back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import Refused, SetAside, Unavailable, absent
from abacus.core.fields import EARLIEST
from abacus.engage.actions.types import PlannedAction
from abacus.engage.offers.codes.shelf import CodeShelf
from abacus.engage.offers.decide.ask import Ask, Validated, Verdicts
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.currencies import decimals_of
from abacus.engage.offers.decide.offer import Audience, BenefitKind, Offer
from abacus.engage.offers.decide.offer_index import OfferIndex
from abacus.engage.offers.decide.reason import Reason
from abacus.engage.offers.decide.redemption_points import Redeemed, points_given
from abacus.engage.offers.decide.reservation import (
    Gain,
    Redemption,
    Reservation,
    ReservationStatus,
    Wish,
    redemption_id,
    reservation_id,
    slice_of_id,
)
from abacus.engage.offers.decide.settlement import Redeeming, Releasing, RollingBack, Settlement
from abacus.engage.offers.decide.single_code import CodeUnknown, CodeUsed, SingleCode, Taking, codes_for
from abacus.engage.offers.decide.together import Fitting, Use, uses_of
from abacus.engage.offers.qualifier import OtherCountry, Qualifier
from abacus.engage.offers.redemptions import Redemptions
from abacus.engage.offers.reservations import Held, Reservations
from abacus.pricing.decide.card import PublishedCard

HELD_FOR: Final = timedelta(minutes=10)
_MICROS_DECIMALS: Final = 6
_FAR: Final = datetime(9000, 1, 1, tzinfo=EARLIEST.tzinfo)
_MOST_KEPT: Final = 1_000  # versions of offers that were reserved

# A version of an offer. Raises `Unavailable`.
OfferOf: TypeAlias = Callable[[str, int], Awaitable[Offer]]


class DoesNotFit(Refused):
    """The offer gives nothing for these items and this member; `reason` says which condition failed first."""

    def __init__(self, offer: str, reason: Reason | None, needs: str | None) -> None:
        super().__init__(f"{offer} does not fit" + (f": {needs}" if needs else ""))
        self.offer = offer
        self.reason = reason


class _Wanted(NamedTuple):
    """What is to be held, and the code that each takes."""

    wishes: Sequence[Wish]
    codes: Sequence[SingleCode | None]


class Order(NamedTuple):
    """Offers that a caller wants to hold for a member, all or none. `basket` is the JSON of the items; `items_of` reads
    them, priced in the currency of the country's card. `key` is the caller's, and `fingerprint` of all facts.
    """

    caller: str
    key: str
    fingerprint: str
    member_id: str
    offers: Sequence[str]
    codes: Sequence[str]
    basket: str
    items_of: Callable[[PublishedCard], Sequence[Item]]


class Paying(NamedTuple):
    """The basket that is paid with a reservation. `accepted` names what the caller knows that it gains: money in
    millionths, or points.
    """

    reservation_id: UUID
    caller: str
    basket: str
    items_of: Callable[[PublishedCard], Sequence[Item]]
    saves: int | None = None
    points: int | None = None


class Till:
    """One for each process. Its methods raise `Refused`, `SetAside` for a country without a card, and `Unavailable`:
    nothing has changed then.
    """

    def __init__(
        self,
        qualifier: Qualifier,
        reservations: Reservations,
        redemptions: Redemptions,
        codes: CodeShelf,
        *,
        offer_of: OfferOf,
        clock: Clock,
    ) -> None:
        self._qualifier = qualifier
        self._reservations = reservations
        self._redemptions = redemptions
        self._codes = codes
        self._offer_of = offer_of
        self._clock = clock
        self._promised: dict[tuple[str, int], Qualifier] = {}

    async def reserve(self, order: Order) -> Held:
        """Holds the offers for `HELD_FOR`. The same key and facts get the first answer, whatever holds by now."""
        try:
            wanted = await self._wanted(order)
        except (Refused, OtherCountry, SetAside):
            earlier = await self._reservations.earlier(order.member_id, order.key, order.fingerprint)
            if earlier is None or not all([await self._has_its_code(each) for each in earlier.reservations]):
                raise
            return earlier
        held = await self._reservations.reserve(wanted.wishes)
        await self._take_codes(held.reservations, wanted.codes)
        return held

    async def reserved(self, reservation_id: UUID, caller: str) -> Reservation:
        return await self._redemptions.reserved(reservation_id, caller)

    async def redeem(self, paying: Paying) -> Settlement:
        """Redeems by the version that was reserved. Conditions on the member and the time held when it was reserved;
        the basket is judged again. Raises `GainChanged` where it gains something else than the caller knows.
        """
        of = await self._redemptions.reserved(paying.reservation_id, paying.caller)
        offer, card = await self._offer_of(of.offer, of.version), self._qualifier.card(of.country)
        if not await self._has_its_code(of):
            raise CodeUsed(of.offer)
        redeeming = Redeeming(
            of.reservation_id,
            paying.caller,
            offer,
            of.reserved_at,
            card.card.zone,
            paying.basket,
            Gain(of.currency, of.saves, of.points),
            _accepted(paying, of),
        )
        if of.status == ReservationStatus.HELD and (of.points or paying.basket != of.items):
            ask = Ask(card, paying.items_of(card), member_id=of.member_id, takes=True)
            (use,) = _uses(await self._promise(offer).validate(ask, [offer.name]), ask.items)
            gain = _gain(use, of.currency)
            award = _award(use, card, of, self._clock.now()) if gain.points else None
            redeeming = redeeming._replace(gain=gain, award=award)
        return await self._settled(redeeming)

    async def release(self, reservation_id: UUID, caller: str) -> Settlement:
        return await self._settled(Releasing(reservation_id, caller))

    async def redeemed(self, redemption: UUID, caller: str) -> Redemption:
        return await self._redemptions.redeemed(redemption, caller)

    async def roll_back(self, redemption: Redemption, key: str, saves: int | None) -> Redemption:
        """So much money, in millionths, or all that is left, with the points; once a key."""
        card = self._qualifier.card(redemption.country)
        takes_code = (await self._offer_of(redemption.offer, redemption.version)).takes_single_code
        of = reservation_id(redemption.reservation_key, slice_of_id(redemption.redemption_id))
        if takes_code:
            await self._codes.reopen(of)
        rolled_back = await self._redemptions.roll_back(
            RollingBack(redemption.redemption_id, redemption.caller, key, saves, card)
        )
        if takes_code:
            self._codes.note_end(of)
        return rolled_back

    async def _settled(self, settling: Redeeming | Releasing) -> Settlement:
        settlement = await self._redemptions.settle(settling)
        of = settlement.reservation
        if (await self._offer_of(of.offer, of.version)).takes_single_code:
            self._codes.note_end(of.reservation_id)
        return settlement

    async def _has_its_code(self, of: Reservation) -> bool:
        """Whether the reservation has the code that it needs. A process may have died before it took that."""
        if of.status != ReservationStatus.HELD or not (await self._offer_of(of.offer, of.version)).takes_single_code:
            return of.status != ReservationStatus.REFUSED
        return await self._codes.has_code(of.reservation_id)

    async def _take_codes(self, held: Sequence[Reservation], codes: Sequence[SingleCode | None]) -> None:
        """Raises `CodeUsed`, and holds nothing, where another reservation has one of the codes."""
        taking = [
            (of, Taking(code.digest, code.pool, code.batch, of.reservation_id, of.until))
            for of, code in zip(held, codes, strict=True)
            if code is not None
        ]
        lost = await self._codes.take([each for of, each in taking if of.status == ReservationStatus.HELD])
        refused = [of for of, _ in taking if of.reservation_id in lost or of.status == ReservationStatus.REFUSED]
        if refused:
            for of in held:
                if of.status == ReservationStatus.HELD:
                    await self._settled(Releasing(of.reservation_id, of.caller, refused=True))
            raise CodeUsed(refused[0].offer)

    async def _wanted(self, order: Order) -> _Wanted:
        country = self._country(order)
        card = self._qualifier.card(country)
        singles = await self._codes.found(self._qualifier.without_public(country, order.codes))
        # Whether a code that is not used yet is free, is seen when it is taken.
        free = {typed: [_free(each) for each in some] for typed, some in singles.items()}
        ask = Ask(card, order.items_of(card), member_id=order.member_id, codes=order.codes, takes=True, singles=free)
        verdicts = await self._qualifier.validate(ask, order.offers)
        _check_codes(verdicts, order.offers[0])
        uses = _uses(verdicts, ask.items)
        return _Wanted(self._wishes(order, uses, card.card.currency), _codes(uses, singles))

    def _wishes(self, order: Order, uses: Sequence[Use], currency: str) -> Sequence[Wish]:
        now = self._clock.now()
        return [
            Wish(
                use.offer,
                order.member_id,
                order.caller,
                f"{order.key}:{number}",
                order.fingerprint,
                order.basket,
                _gain(use, currency),
                now,
                now + HELD_FOR,
            )
            for number, use in enumerate(uses)
        ]

    def _country(self, order: Order) -> str:
        """The country of the first offer. Offers of other countries are not in force there."""
        offer = self._qualifier.named(order.offers[0])
        if offer is None:
            raise absent("offer in force", order.offers[0])
        return offer.country

    def _promise(self, offer: Offer) -> Qualifier:
        """What judges a basket by this version of an offer alone."""
        place = offer.name, offer.version
        if place not in self._promised:
            if len(self._promised) >= _MOST_KEPT:
                self._promised.clear()
            index = OfferIndex()
            index.put(_promised(offer), None)
            self._promised[place] = self._qualifier.over(index)
        return self._promised[place]


def _promised(offer: Offer) -> Offer:
    """The offer without what was judged when it was reserved."""
    return replace(
        offer,
        starts_at=EARLIEST,
        ends_at=_FAR,
        approved_at=EARLIEST,
        weekdays=frozenset(),
        hours=(),
        when=None,
        audience=Audience.PUBLIC,
        code=None,
    )


def _free(code: SingleCode) -> SingleCode:
    return code if code.is_used else code._replace(taken_by=None, until=None)


def _check_codes(verdicts: Verdicts, offer: str) -> None:
    """Raises `CodeUnknown` and `CodeUsed`."""
    by_code = [each for each in verdicts.offers if each.is_code]
    if unknown := sum(each.offer is None for each in by_code):
        raise CodeUnknown(offer, unknown)
    for each in by_code:
        if each.offer is not None and each.refused is not None and each.refused.reason is Reason.CODE_USED:
            raise CodeUsed(each.offer.name)


def _codes(uses: Sequence[Use], singles: Mapping[str, Sequence[SingleCode]]) -> Sequence[SingleCode | None]:
    """The code of each use. Raises `DoesNotFit` where a use has none that it needs."""
    needing = [use.offer.name for use in uses if use.offer.takes_single_code]
    codes = codes_for(needing, singles.values())
    if None in codes:
        raise DoesNotFit(needing[codes.index(None)], Reason.ADMISSION, "a code for each use")
    rest = iter(codes)
    return [next(rest) if use.offer.takes_single_code else None for use in uses]


def _uses(verdicts: Verdicts, items: Sequence[Item]) -> list[Use]:
    """Raises `Refused`, and `Unavailable` where something that an offer asks cannot be told now."""
    named = [_fitting(each, is_degraded=verdicts.reading.is_degraded) for each in verdicts.offers if not each.is_code]
    uses = uses_of(named, [item.line for item in items])
    if any(use.offer.benefit.kind is BenefitKind.POINTS_TIMES and use.earned is None for use in uses):
        raise Unavailable("offers", "what the purchase earns cannot be told now")
    return uses


def _fitting(verdict: Validated, *, is_degraded: bool) -> Fitting:
    offer, refusal = verdict.offer, verdict.refused
    if offer is None:
        raise absent("offer in force", verdict.named)
    if not verdict.fits:
        if is_degraded:
            raise Unavailable("offers", "what the offer asks of the member cannot be told now")
        raise DoesNotFit(offer.name, refusal and refusal.reason, refusal and refusal.needs)
    return Fitting(offer, verdict.fits)


def _gain(use: Use, currency: str) -> Gain:
    return Gain(currency, use.saves * 10 ** (_MICROS_DECIMALS - decimals_of(currency)), use.gives)


def _award(use: Use, card: PublishedCard, of: Reservation, now: datetime) -> PlannedAction:
    redeemed = Redeemed(use.offer, card, redemption_id(of.reservation_id), of.member_id, now)
    return points_given(redeemed, use.gives, use.earned or 0)


def _accepted(paying: Paying, of: Reservation) -> Gain | None:
    if paying.saves is None and paying.points is None:
        return None
    saves = of.saves if paying.saves is None else paying.saves
    return Gain(of.currency, saves, of.points if paying.points is None else paying.points)
