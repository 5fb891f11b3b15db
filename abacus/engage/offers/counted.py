"""A till and a sweeper that count what came of each request."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final
from uuid import UUID

from abacus.core.errors import Absent, SetAside, Unavailable
from abacus.engage.offers.decide.outcomes import Outcome
from abacus.engage.offers.decide.reservation import Ended, GainChanged, LimitReached, OtherFacts, Redemption
from abacus.engage.offers.decide.settlement import Settlement, TooMuch
from abacus.engage.offers.decide.single_code import CodeRefused
from abacus.engage.offers.decide.together import NotTogether
from abacus.engage.offers.metrics import OFFERS_REFUSED, OFFERS_TAKEN
from abacus.engage.offers.qualifier import OtherCountry
from abacus.engage.offers.reservations import Held
from abacus.engage.offers.sweeper import ReservationSweeper
from abacus.engage.offers.till import DoesNotFit, Order, Paying, Till

REASONS: Final[Mapping[type[Exception], str]] = {
    Absent: "absent",
    DoesNotFit: "unfit",
    CodeRefused: "code",
    NotTogether: "not_together",
    LimitReached: "limit",
    OtherFacts: "other_facts",
    Ended: "ended",
    GainChanged: "changed",
    TooMuch: "too_much",
    OtherCountry: "other_country",
    SetAside: "no_card",
    Unavailable: "unavailable",
}
OTHER: Final = "other"


def reason_of(error: Exception) -> str:
    return next((reason for kind, reason in REASONS.items() if isinstance(error, kind)), OTHER)


class CountedTill(Till):
    """A `Till` whose requests are counted."""

    async def reserve(self, order: Order) -> Held:
        with _refusals():
            held = await super().reserve(order)
        if not held.replayed:
            _count(Outcome.RESERVED, len(held.reservations))
        return held

    async def redeem(self, paying: Paying) -> Settlement:
        with _refusals():
            settlement = await super().redeem(paying)
        if not settlement.replayed:
            _count(Outcome.REDEEMED)
        return settlement

    async def release(self, reservation_id: UUID, caller: str) -> Settlement:
        with _refusals():
            settlement = await super().release(reservation_id, caller)
        if not settlement.replayed:
            _count(Outcome.RELEASED)
        return settlement

    async def roll_back(self, redemption: Redemption, key: str, saves: int | None) -> Redemption:
        with _refusals():
            after = await super().roll_back(redemption, key, saves)
        if after != redemption:
            _count(Outcome.ROLLED_BACK)
        return after


class CountedSweeper(ReservationSweeper):
    """A `ReservationSweeper` that counts what it lets go."""

    async def sweep(self, offers: Sequence[str] | None = None) -> int:
        count = await super().sweep(offers)
        _count(Outcome.EXPIRED, count)
        return count


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        OFFERS_REFUSED.labels(reason_of(error)).inc()
        raise


def _count(outcome: Outcome, count: int = 1) -> None:
    OFFERS_TAKEN.labels(str(outcome)).inc(count)
