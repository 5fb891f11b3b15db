"""Invitations that a deed or a redemption gave: each once under its key. What is not used can be taken back.

A gift and the invitation that it makes are written in one transaction of the member's slice.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import orjson

from abacus.core.clock import Clock
from abacus.documents.decide.states import Status
from abacus.engage.actions.action_runner import Handover
from abacus.engage.actions.action_store import Batch
from abacus.engage.actions.types import DueAction, Refusals
from abacus.engage.offers.decide.invited import not_by_invitation
from abacus.engage.offers.decide.reservation import TAKES, ReservationStatus
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, passing_failures, rows_changed
from abacus.platform.sql import Statement, arrays, columns, unnested


class Gift(NamedTuple):
    """An invitation to the offer of that number."""

    member_id: str
    key: str
    offer: int


class Open(NamedTuple):
    """The numbers of the offers to which members can be invited now, and why not to the others."""

    numbers: Mapping[str, int]
    against: Mapping[str, str]


_TAKES: Final = ", ".join(f"'{each}'" for each in TAKES)
_IN_FORCE: Final = Statement(f"""
select o.name, n.number, o.document ->> 'audience' as audience from offer o join offer_number n on n.name = o.name
where o.name = any(:names::text[]) and o.status in ('{Status.APPROVED}', '{Status.PAUSED}') and o.ends_at > :now
""")
_GIVE: Final = Statement(f"""
insert into offer_gift ({columns(Gift)}, given_at) select u.*, :now from {unnested(Gift)} order by u.member_id, u.key
on conflict do nothing returning {columns(Gift)}
""")
# Members are locked in one order, so that two who invite at once do not wait for each other.
_INVITE: Final = Statement(f"""
insert into offer_invitation as i (member_id, offers)
select u.member_id, array_agg(distinct u.offer) from {unnested(Gift)} group by u.member_id order by u.member_id
on conflict (member_id) do update
set offers = i.offers || array(select n from unnest(excluded.offers) n where n <> all(i.offers))
where not i.offers @> excluded.offers
""")
_INVITED_TO: Final = Statement("select offers from offer_invitation where member_id = :member_id")
_HAS: Final = Statement("select exists(select from offer_gift where member_id = :member_id and key = :key)")
_LOCK: Final = Statement("select from offer_invitation where member_id = :member_id for update")
_IS_USED: Final = Statement(f"""
select exists(
    select from offer_gift g join offer_reservation r on r.member_id = g.member_id and r.offer = :name
    where g.member_id = :member_id and g.key = :key and r.reserved_at >= g.given_at
        and r.status in ({_TAKES}) and (r.status <> '{ReservationStatus.HELD}' or r.until > :now)
)
""")
_TAKE: Final = Statement("delete from offer_gift where member_id = :member_id and key = :key")
_UNINVITE: Final = Statement("""
update offer_invitation set offers = array_remove(offers, :offer::integer) where member_id = :member_id
    and not exists (select from offer_gift g where g.member_id = :member_id and g.offer = :offer)
""")
_SWEEP: Final = Statement("delete from offer_invitation where member_id = :member_id and offers = '{}'")


async def invited_to(pool: Pool, member_id: str) -> frozenset[int]:
    """The numbers of the offers to which the member is invited. Raises `Unavailable`."""
    async with slices.at(pool, member_id) as connection:
        offers: Sequence[int] | None = await connection.fetchval(*_INVITED_TO(member_id=member_id))
    return frozenset(offers or ())


async def open_offers(pool: Pool, names: Collection[str], now: datetime) -> Open:
    """Raises `Unavailable`."""
    async with passing_failures():
        rows = await pool.fetch(*_IN_FORCE(names=sorted(set(names)), now=now))
    against = {name: f"the offer {name} is not in force" for name in names}
    numbers: dict[str, int] = {}
    for name, number, audience in rows:
        if (why := not_by_invitation(name, audience)) is not None:
            against[name] = why
        else:
            numbers[name] = number
            del against[name]
    return Open(numbers, against)


async def give(connection: Connection, gifts: Sequence[Gift], now: datetime) -> None:
    """In the caller's transaction, in the slice of all these members. What was given before is not given again, and a
    member who is invited already stays so.
    """
    new = [Gift(*row) for row in await connection.fetch(*_GIVE(**arrays(Gift, gifts), now=now))]
    if new:
        await connection.execute(*_INVITE(**arrays(Gift, new)))


def to_invitations(pool: Pool, clock: Clock) -> Handover:
    """Deeds that grant offers invite the member, in the transaction that ends the deeds."""

    async def hand_over(batch: Batch, actions: Sequence[DueAction]) -> Refusals:
        names = {each: str(orjson.loads(each.document)["offer"]) for each in actions}
        now = clock.now()
        open_ = await open_offers(pool, set(names.values()), now)
        gifts = [
            Gift(each.member_id, f"{each.key}/{each.number}", open_.numbers[name])
            for each, name in names.items()
            if name in open_.numbers
        ]
        await give(batch.connection, gifts, now)
        return Refusals({each: open_.against[name] for each, name in names.items() if name in open_.against}, ())

    return hand_over


async def give_new(pool: Pool, gift: Gift, now: datetime) -> bool:
    """Whether the member was invited by this gift, now or before; not where it was invited otherwise. Raises
    `Unavailable`.
    """
    has = _HAS(member_id=gift.member_id, key=gift.key)
    async with slices.at(pool, gift.member_id) as connection, slices.in_place(connection):
        if await connection.fetchval(*has):
            return True
        if await rows_changed(connection, _INVITE(**arrays(Gift, [gift]))):
            await connection.execute(*_GIVE(**arrays(Gift, [gift]), now=now))
            return True
        # Another process may have given it just now: its row was waited for.
        return bool(await connection.fetchval(*has))


async def is_given(pool: Pool, gift: Gift) -> bool:
    """Raises `Unavailable`."""
    async with slices.at(pool, gift.member_id) as connection:
        return bool(await connection.fetchval(*_HAS(member_id=gift.member_id, key=gift.key)))


async def take_back(pool: Pool, gift: Gift, name: str, now: datetime) -> bool:
    """Whether the gift is gone, with the invitation unless another gift made it too; what is used stays. `name` is that
    of the offer. Raises `Unavailable`.
    """
    member_id, key = gift.member_id, gift.key
    async with slices.at(pool, member_id) as connection, slices.in_place(connection):
        await connection.fetch(*_LOCK(member_id=member_id))
        if await connection.fetchval(*_IS_USED(member_id=member_id, key=key, name=name, now=now)):
            return False
        if await rows_changed(connection, _TAKE(member_id=member_id, key=key)):
            await connection.execute(*_UNINVITE(member_id=member_id, offer=gift.offer))
            await connection.execute(*_SWEEP(member_id=member_id))
    return True
