"""Looking up an account's lots and original transfers, under its lock, before its points are moved."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from abacus.ledger.decide.account_with_lots import AccountWithLots
from abacus.ledger.decide.lots import Lot, changed_modes, first_day, open_lots, with_used_closed
from abacus.ledger.decide.reversal import Original
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Reversal
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns, row_of
from abacus.pricing.explanation.sql import number, text

# The last day of the lots that the points came from, the oldest first: `gone` points had left before, and each lot ends
# `upto` points after the first. Also of a transfer by activity: points from before a change keep their lot's day.
_GOOD_UNTIL: Final = Statement("""
select (
    select max(lot.expires_on) from (
        select t.expires_on, t.points - d.drawn as capacity, sum(t.points - d.drawn) over (order by t.seq) as upto
        from transfer t cross join lateral (
            select coalesce(sum(d.points), 0) as drawn from draw d
            where d.member_id = t.member_id and d.program = t.program and d.lot_seq = t.seq
        ) d
        where t.member_id = :member_id and t.program = :program and t.seq < :seq and t.points > 0
    ) lot
    where lot.capacity > 0 and lot.upto > taker.gone and lot.upto - lot.capacity < taker.gone - taker.points
)
from (
    select t.points, coalesce((
        select sum(-e.points) from transfer e
        where e.member_id = :member_id and e.program = :program and e.seq < :seq and e.points < 0
    ), 0) - coalesce((
        select sum(d.points) from draw d where d.member_id = :member_id and d.program = :program and d.seq < :seq
    ), 0) as gone
    from transfer t where t.member_id = :member_id and t.program = :program and t.seq = :seq
) taker
""")


async def good_when_taken(connection: Connection, taker: Transfer) -> date | None:
    """None where it cannot be known."""
    which = {"member_id": taker.member_id, "program": taker.program, "seq": taker.seq}
    day: date | None = await connection.fetchval(*_GOOD_UNTIL(**which))
    return day


_PAGE: Final = 500

# The lots after each account's cursor, at most `most` of each.
_LOTS: Final = Statement(f"""
select place, {columns(Lot)}
from unnest(:members::text[], :programs::text[], :closed::bigint[])
    with ordinality as u (member_id, program, closed, place)
cross join lateral (
    select seq, key, points, occurred_at, expires_on from transfer t
    where t.member_id = u.member_id and t.program = u.program and t.seq > u.closed and t.points > 0
    order by t.seq limit :most
) t
cross join lateral (
    select coalesce(sum(d.points), 0)::bigint as drawn from draw d
    where d.member_id = u.member_id and d.program = u.program and d.lot_seq = t.seq
) d
order by place, seq
""")

_ORIGINAL: Final = Statement(f"""
select {columns(Transfer, "t")}, coalesce((
    select sum(d.points) from draw d where d.member_id = t.member_id and d.program = t.program and d.lot_seq = t.seq
), 0)::bigint as drawn
from claim c join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
where c.key = :key and c.member_id = :member_id and c.program = :program
""")

_EARLIER: Final = Statement(f"""
select {columns(Transfer)} from transfer
where member_id = :member_id and program = :program and reverses = :key
order by seq
""")

_LAPSED_BY_NAME: Final = Statement("""
select coalesce(sum(d.points), 0)::bigint from draw d
join transfer t on t.member_id = d.member_id and t.program = d.program and t.seq = d.seq and t.kind = 'expire'
where d.member_id = :member_id and d.program = :program and d.lot_seq = :lot_seq
""")

# Each lapse took `taken` points, beginning `drawn` points after its cursor; the lot stands `lot` points after that
# cursor. The points that the two have in common lapsed.
_LAPSED_OF_LOT: Final = Statement(f"""
select coalesce(sum(
    greatest(0, least(at.lot + :capacity, at.drawn + at.taken) - greatest(at.lot, at.drawn))
), 0)::bigint
from (
    select -l.points as taken, coalesce({number("lots_drawn", "l")}, 0) as drawn, (
        select coalesce(sum(t.points), 0) from transfer t
        where t.member_id = l.member_id and t.program = l.program and t.points > 0 and t.seq < :lot_seq
            and t.seq > coalesce({number("lots_closed", "l")}, 0)
    ) - (
        select coalesce(sum(d.points), 0) from draw d
        where d.member_id = l.member_id and d.program = l.program and d.lot_seq < :lot_seq
            and d.lot_seq > coalesce({number("lots_closed", "l")}, 0)
    ) as lot
    from transfer l
    where l.member_id = :member_id and l.program = :program and l.seq > :lot_seq and l.kind = 'expire'
        and {text("lots", "l")} is null and coalesce({number("lots_closed", "l")}, 0) < :lot_seq
) as at
""")


async def lots_after(
    connection: Connection, accounts: Sequence[Account], limit: int | None = None
) -> dict[AccountId, list[Lot]]:
    """The lots after each account's cursor, in order."""
    lots: dict[AccountId, list[Lot]] = {account.id: [] for account in accounts}
    rows = await connection.fetch(
        *_LOTS(
            members=[account.member_id for account in accounts],
            programs=[account.program for account in accounts],
            closed=[account.lots_closed for account in accounts],
            most=limit,
        )
    )
    for place, *lot in rows:
        lots[accounts[place - 1].id].append(Lot(*lot))
    return lots


async def with_lots(connection: Connection, accounts: Mapping[AccountId, Account]) -> dict[AccountId, AccountWithLots]:
    """Locked accounts; an account that lapses by lots has its open lots."""
    by_lots = [account for account in accounts.values() if account.lifetime]
    lots = await lots_after(connection, by_lots) if by_lots else {}
    return {
        id_: AccountWithLots(account, tuple(open_lots(account, lots.get(id_, [])))) for id_, account in accounts.items()
    }


async def with_modes_changed(
    connection: Connection, accounts: dict[AccountId, Account], awards: Sequence[Award]
) -> None:
    """Put the accounts whose way of lapsing these awards change into `accounts`, changed."""
    modes = changed_modes(awards, accounts)
    turning = [accounts[id_] for id_, lifetime in modes.items() if lifetime]
    lots = await lots_after(connection, [each for each in turning if each.balance > 0]) if turning else {}
    for id_, lifetime in modes.items():
        account = accounts[id_]
        day = first_day(open_lots(account, lots.get(id_, []))) if lifetime else None
        accounts[id_] = account._replace(lifetime=lifetime, expires_on=day)


async def with_cursor_moved(connection: Connection, account: Account) -> Account:
    """The account with its used up lots behind its cursor: each is passed once in its life."""
    while account.lots_drawn:
        page = (await lots_after(connection, [account], _PAGE))[account.id]
        moved = with_used_closed(account, page)
        is_through = len(page) < _PAGE or moved.lots_closed < page[-1].seq
        account = moved
        if is_through:
            break
    return account


async def original_of(connection: Connection, account: Account, reversal: Reversal) -> Original | None:
    """The transfer that the reversal takes back. The cursor of the account has been moved before."""
    place = {"member_id": account.member_id, "program": account.program}
    row = await connection.fetchrow(*_ORIGINAL(key=reversal.reverses, **place))
    if row is None:
        return None
    transfer = row_of(Transfer, row)
    reversals = [Transfer(*each) for each in await connection.fetch(*_EARLIER(key=transfer.key, **place))]
    if transfer.points <= 0:
        good_until = await good_when_taken(connection, transfer) if account.lifetime else None
        return Original(transfer, reversals=reversals, good_until=good_until)
    lot = Lot(transfer.seq, transfer.key, transfer.points, row["drawn"], transfer.occurred_at, transfer.expires_on)
    left = await _left(connection, account, lot)
    lapsed = await _lapsed(connection, account, lot) if transfer.seq < account.lapsed_seq else 0
    return Original(transfer, left, lapsed, reversals)


async def _left(connection: Connection, account: Account, lot: Lot) -> int:
    if lot.seq <= account.lots_closed:
        return 0
    following = (await lots_after(connection, [account], 1))[account.id]
    is_oldest = bool(following) and following[0].seq == lot.seq
    return max(0, lot.capacity - account.lots_drawn) if is_oldest else max(0, lot.capacity)


async def _lapsed(connection: Connection, account: Account, lot: Lot) -> int:
    which = {"member_id": account.member_id, "program": account.program, "lot_seq": lot.seq}
    by_name = await connection.fetchval(*_LAPSED_BY_NAME(**which))
    return int(by_name) + int(await connection.fetchval(*_LAPSED_OF_LOT(**which, capacity=lot.capacity)))
