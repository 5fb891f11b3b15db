"""The limits of the partners in a batch, and how far they are used: read under lock, written back with the batch."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple, Protocol

from abacus.ledger.decide.allowance import BatchSpending, LimitUse
from abacus.ledger.store.allowances import lock, write
from abacus.ledger.store.budgets import Whole
from abacus.ledger.types.limits import MemberDay, Rejection, RejectionReason
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, arrays, columns, unnested


class _MemberDayRow(NamedTuple):
    """A row of `allowance_member`."""

    member_id: str
    partner_id: str
    day: date
    used: int

    @property
    def member_day(self) -> MemberDay:
        return MemberDay(self.member_id, self.partner_id, self.day)


_MEMBER_DAYS: Final = Statement(f"""
select {columns(_MemberDayRow, "m")}
from {unnested(MemberDay)}
join allowance_member m on m.member_id = u.member_id and m.partner_id = u.partner_id and m.day = u.day
""")

REJECTION_COLUMNS: Final = columns(Rejection)
_REJECTIONS: Final = Statement(f"select {REJECTION_COLUMNS} from rejection where key = any(:keys::text[])")

_SPEND_ON_MEMBER: Final = Statement(f"""
update allowance_member m set used = u.used
from {unnested(_MemberDayRow)} where m.member_id = u.member_id and m.partner_id = u.partner_id and m.day = u.day
""")

# In a slice, rejections have places of their own: the transaction that writes one has the turn.
_LAST_PLACE: Final = "select xid::text from rejection order by rejection.xid desc limit 1"


class Counted(Protocol):
    """An award or a movement of a partner."""

    @property
    def key(self) -> str: ...

    @property
    def member_id(self) -> str: ...


async def lock_standing(
    connection: Connection, partners: Mapping[str, Sequence[Counted]], whole: Whole, now: datetime
) -> LimitUse:
    """The allowances of the partners, locked; the members' use of them today, and which awards were rejected before.
    Raises `Short` for a partner that the slice does not know yet.
    """
    today = now.astimezone(UTC).date()
    allowances = await lock(connection, partners, whole, today)
    days = dict.fromkeys(
        MemberDay(award.member_id, partner_id, allowances[partner_id].on(today).day)
        for partner_id, awards in partners.items()
        if partner_id in allowances
        for award in awards
    )
    used = [_MemberDayRow(*row) for row in await connection.fetch(*_MEMBER_DAYS(**arrays(MemberDay, list(days))))]
    keys = [award.key for awards in partners.values() for award in awards]
    rejections = [rejection_of(row) for row in await connection.fetch(*_REJECTIONS(keys=keys))]
    return LimitUse(
        allowances,
        {row.member_day: row.used for row in used},
        {rejection.key: rejection for rejection in rejections},
        whole,
    )


async def write_use(connection: Connection, standing: LimitUse, spending: BatchSpending) -> None:
    """How far the locked allowances are used now."""
    if not spending.allowances:
        return
    await write(connection, spending.allowances, standing.whole)
    days = [_MemberDayRow(*day, used) for day, used in sorted(spending.member_days.items())]
    known = [day for day in days if day.member_day in standing.member_days]
    new = [day for day in days if day.member_day not in standing.member_days]
    if known:
        await connection.execute(*_SPEND_ON_MEMBER(**arrays(_MemberDayRow, known)))
    if new:
        await connection.copy_records_to_table("allowance_member", records=new, columns=_MemberDayRow._fields)


async def write_rejections(connection: Connection, rejections: Sequence[Rejection]) -> None:
    if not rejections:
        return
    if connection.slice_schema is None:
        await connection.copy_records_to_table("rejection", records=rejections, columns=Rejection._fields)
    else:
        await _write_placed(connection, rejections)


async def _write_placed(connection: Connection, rejections: Sequence[Rejection]) -> None:
    """In a slice, by the transaction that has its turn."""
    place = int(await connection.fetchval(_LAST_PLACE) or 0) + 1
    placed = [(*each, place) for each in rejections]
    await connection.copy_records_to_table("rejection", records=placed, columns=(*Rejection._fields, "xid"))


def rejection_of(row: Sequence[Any]) -> Rejection:
    """From a row of `REJECTION_COLUMNS`."""
    rejection = Rejection(*row)
    return rejection._replace(reason=RejectionReason(rejection.reason))
