"""Offers that tests take, and what is there of them afterwards."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.engage.limits.pot_rows import used
from abacus.engage.limits.types import UNBOUND, Bound, Limits
from abacus.engage.offers.codes.code_key import CodeRules
from abacus.engage.offers.codes.code_uses import Holders
from abacus.engage.offers.codes.shelf import CodeShelf
from abacus.engage.offers.decide.offer import OWNER_KIND, Benefit, BenefitKind, Offer, Payer, Scope
from abacus.engage.offers.decide.reservation import Gain, Redemption, Reservation, Wish
from abacus.engage.offers.decide.settlement import Redeeming, Releasing, RollingBack
from abacus.engage.offers.redemptions import Redemptions
from abacus.engage.offers.reservations import Reservations, pots_of_offers
from abacus.engage.offers.spent import WatchedPots
from abacus.engage.offers.sweeper import ReservationSweeper
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard
from tests.support.cards import SINGAPORE

NOW: Final = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)  # noon of a Monday in Singapore
LONG_AGO: Final = NOW - timedelta(days=3_000)
TO_COME: Final = NOW + timedelta(days=3_000)
MINUTES: Final = timedelta(minutes=10)
ITEMS: Final = json.dumps([{"id": "1", "price": "21.00"}])
CARD: Final = PublishedCard(SINGAPORE, 7)
GAIN: Final = Gain("SGD", 4_200_000)
CODE_KEY: Final = b"of tests"
LUNCH: Final = Offer(
    name="lunch_20",
    country="SG",
    timezone="Asia/Singapore",
    starts_at=NOW - timedelta(days=30),
    ends_at=NOW + timedelta(days=30),
    benefit=Benefit(BenefitKind.PERCENT, Decimal(20)),
    scope=Scope(everything=True),
    limits=Limits(),
    payer=Payer("cost_centre", "marketing"),
    currency="SGD",
    version=1,
    number=1,
)


class Desk(NamedTuple):
    """What a process takes offers by."""

    reservations: Reservations
    redemptions: Redemptions
    sweeper: ReservationSweeper
    codes: CodeShelf


def lunch(**changes: object) -> Offer:
    return replace(LUNCH, **changes)  # type: ignore[arg-type]  # fields of an offer


def limited(
    overall: Bound = UNBOUND, day: Bound = UNBOUND, member: Bound = UNBOUND, member_day: Bound = UNBOUND
) -> Offer:
    return lunch(limits=Limits(overall, day, member, member_day))


def desk(pool: Pool, clock: Clock, slot: int = 1, pots: WatchedPots | None = None) -> Desk:
    pots = pots or pots_of_offers(pool, slot)
    sweeper = ReservationSweeper(pool, clock, pots, slot=slot)
    holders = Holders(pool, clock, sweeper.let_go)
    return Desk(
        Reservations(pool, clock, pots, sweeper.let_go, slot=slot),
        Redemptions(pool, clock, pots, slot=slot),
        sweeper,
        CodeShelf(pool, clock, lambda: CodeRules(CODE_KEY, all_checked=True), holders),
    )


def wish(
    key: int | str = 1, member_id: str = "bob", offer: Offer = LUNCH, at: datetime = NOW, gain: Gain = GAIN
) -> Wish:
    facts = json.dumps([member_id, offer.name, gain.saves])
    return Wish(offer, member_id, "partner:shop", f"reservation:shop:{key}", facts, ITEMS, gain, at, at + MINUTES)


async def statuses(pool: Pool) -> list[str]:
    rows = await pool.fetch("select status from offer_reservation order by key")
    return [row["status"] for row in rows]


async def used_of(pool: Pool, offer: Offer = LUNCH) -> dict[str, tuple[int, int]]:
    """The uses and the money that were taken from the pots of an offer, by period."""
    async with pool.acquire() as connection:
        found = await used(connection, OWNER_KIND, [offer.name], None)
    return {pot.period: (amounts.runs, amounts.cost) for pot, amounts in found.items()}


async def sums(pool: Pool) -> dict[str, tuple[int, int]]:
    """How often what happened, and the money that it was."""
    rows = await pool.fetch(
        "select outcome, sum(times)::bigint as times, sum(saves)::bigint as saves from offer_sum group by 1 order by 1"
    )
    return {row["outcome"]: (row["times"], row["saves"]) for row in rows}


def redeeming(
    of: Reservation, offer: Offer = LUNCH, gain: Gain = GAIN, accepted: Gain | None = None, items: str = ITEMS
) -> Redeeming:
    return Redeeming(of.reservation_id, of.caller, offer, of.reserved_at, CARD.card.zone, items, gain, accepted)


def releasing(of: Reservation) -> Releasing:
    return Releasing(of.reservation_id, of.caller)


def rolling_back(of: Redemption, key: str, saves: int | None = None) -> RollingBack:
    return RollingBack(of.redemption_id, of.caller, key, saves, CARD)


async def held(taking: Desk, *wishes: Wish) -> Reservation:
    """The first reservation of a request."""
    return (await taking.reservations.reserve(wishes)).reservations[0]
