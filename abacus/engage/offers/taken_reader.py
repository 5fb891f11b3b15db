"""Reservations of offers with what became of them, for people: of an offer, of a member, or one by its id."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

from abacus.core.errors import Unavailable
from abacus.engage.offers.decide.reservation import ReservationStatus, slice_of_id
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement

_WITHIN_S: Final = 2.0
_WHAT: Final = """
r.member_id, r.reservation_id, r.offer, r.version, r.country, r.caller, r.currency, coalesce(d.saves, r.saves),
coalesce(d.points, r.points), r.reserved_at, r.until, r.status, coalesce(d.items, r.items)::text, d.redemption_id,
d.redeemed_at, coalesce(d.saves_back, 0), coalesce(d.points_back, 0)
"""
_PAGE: Final = """
    and (:status::text is null or status = :status)
    and (:at::timestamptz is null or (reserved_at, reservation_id) < (:at, :id::uuid))
order by reserved_at desc, reservation_id desc limit :most
"""
_BESIDE: Final = "left join offer_redemption d on d.member_id = r.member_id and d.reservation_key = r.key"
_ORDER: Final = "order by r.reserved_at desc, r.reservation_id desc"


def _listed(condition: str) -> Statement:
    return Statement(f"""
select {_WHAT} from (select * from offer_reservation where {condition} {_PAGE}) r {_BESIDE} {_ORDER}
""")


_OF_OFFER: Final = _listed("offer = :offer")
_OF_MEMBER: Final = _listed("member_id = :member_id")
_ONE: Final = Statement(f"""
select {_WHAT} from offer_reservation r {_BESIDE} where r.reservation_id = :id
union all
select {_WHAT} from offer_redemption d join offer_reservation r on r.key = d.reservation_key
where d.redemption_id = :id
""")

# Behind which a list goes on: lists are ordered by the time of the reservation, the newest first, and then by its id.
Place: TypeAlias = tuple[datetime, UUID]


class TakenOffer(NamedTuple):
    """A reservation, and its redemption where there is one. Money is in millionths."""

    member_id: str
    reservation_id: UUID
    offer: str
    version: int
    country: str
    caller: str
    currency: str
    saves: int
    points: int
    reserved_at: datetime
    until: datetime
    status: str
    items: str
    redemption_id: UUID | None
    redeemed_at: datetime | None
    saves_back: int
    points_back: int

    @property
    def place(self) -> Place:
        return self.reserved_at, self.reservation_id

    def state(self, now: datetime) -> str:
        """A hold whose time is over holds nothing, whether somebody has let it go or not."""
        is_over = self.status == ReservationStatus.HELD and self.until <= now
        return ReservationStatus.EXPIRED if is_over else ReservationStatus(self.status)


class TakenReader:
    """Every method raises `Unavailable`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_offer(
        self, offer: str, most: int, *, status: str | None = None, after: Place | None = None
    ) -> list[TakenOffer]:
        """The newest first."""
        at, id_ = after or (None, None)
        asked = _OF_OFFER(offer=offer, status=status, at=at, id=id_, most=most)
        split = await slices.everywhere(self._pool, partial(_in_slice, asked), reads=True)
        found = sorted(chain.from_iterable(split.in_reach()), key=lambda each: each.place, reverse=True)
        return found[:most]

    async def of_member(self, member_id: str, most: int) -> list[TakenOffer]:
        """The newest first."""
        asked = _OF_MEMBER(member_id=member_id, status=None, at=None, id=None, most=most)
        return await _in_slice(asked, await slices.slice_of(self._pool, member_id))

    async def one(self, id_: UUID) -> TakenOffer | None:
        """The reservation, or the redemption, of this id."""
        there, number = await slices.slices_of(self._pool), slice_of_id(id_)
        if number >= len(there):
            return None
        return next(iter(await _in_slice(_ONE(id=id_), there[number])), None)


async def _in_slice(asked: Sequence[Any], slice_: slices.Slice) -> list[TakenOffer]:
    try:
        async with slice_.at() as connection:
            return [TakenOffer(*row) for row in await connection.fetch(*asked, timeout=_WITHIN_S)]
    except TimeoutError:
        raise Unavailable("list of redemptions", "to look through them takes too long") from None
