"""What the client for asyncio asks and takes of offers; `offers.py` is generated from this file."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from decimal import Decimal
from uuid import UUID

from abacus_client import offer_calls
from abacus_client.calls import Answer, Call
from abacus_client.offer_answers import OfferRedemption, Qualified, Reservation, ValidatedOffer
from abacus_client.offer_calls import OfferItem, Scenario


class AsyncOfferCalls(ABC):
    """The methods about offers. The base URL is that of the offers."""

    async def qualify(
        self,
        country: str,
        items: Iterable[OfferItem],
        *,
        member_id: str | None = None,
        scenario: Scenario = "best",
        explain: bool = False,
    ) -> Qualified:
        """The offers of up to 50 items; without a member, those for everybody. Nothing is reserved."""
        return await self._answer(offer_calls.qualify(country, items, member_id, scenario, explain=explain))

    async def validate_offers(
        self,
        country: str,
        items: Iterable[OfferItem],
        *,
        member_id: str | None = None,
        offers: Iterable[str] = (),
        codes: Iterable[str] = (),
    ) -> list[ValidatedOffer]:
        """What each of these offers, and of the offers by these codes, would save by itself."""
        return await self._answer(offer_calls.validate(country, items, member_id, offers, codes))

    async def reserve_offer(
        self,
        offer: str,
        member_id: str,
        item: OfferItem,
        *,
        code: str | None = None,
        idempotency_key: str | None = None,
    ) -> Reservation:
        """Holds a use of the offer, and its money, for some minutes."""
        return await self._answer(offer_calls.reserve(offer, member_id, item, code, idempotency_key))

    async def reserve_offers(
        self,
        member_id: str,
        items: Iterable[OfferItem],
        offers: Iterable[str],
        *,
        codes: Iterable[str] = (),
        idempotency_key: str | None = None,
    ) -> list[Reservation]:
        """Holds several offers for one basket, all or none."""
        return await self._answer(offer_calls.reserve_several(member_id, items, offers, codes, idempotency_key))

    async def redeem_reservation(
        self,
        reservation_id: UUID | str,
        items: Iterable[OfferItem],
        *,
        saves: Decimal | str | None = None,
        points: int | None = None,
    ) -> OfferRedemption:
        """Redeems with the basket that is paid. Where it gains something else than was reserved, the problem
        `offer-changed` says what; name that to redeem with it.
        """
        return await self._answer(offer_calls.redeem(reservation_id, items, saves, points))

    async def release_reservation(self, reservation_id: UUID | str) -> Reservation:
        return await self._answer(offer_calls.release(reservation_id))

    async def roll_back_redemption(
        self,
        redemption_id: UUID | str,
        *,
        saves: Decimal | str | None = None,
        idempotency_key: str | None = None,
    ) -> OfferRedemption:
        """Takes back so much of what was saved, or all that is left, with the points."""
        return await self._answer(offer_calls.roll_back(redemption_id, saves, idempotency_key))

    @abstractmethod
    async def _answer(self, call: Call[Answer]) -> Answer:
        """The answer to a call; the client makes it."""
