"""The limits of the partners in a batch, and how far they are used: read under lock, written back with the batch."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple, Protocol

from abacus.core.ids import award_id
from abacus.ledger.decide.allowance import Allowance, Spending, Standing
from abacus.ledger.store.partner_awards import PARTNER_AWARD_COLUMNS, PARTNER_AWARD_ROWS, PartnerAward
from abacus.ledger.types.award import Award
from abacus.ledger.types.limits import Limits, MemberDay, Rejection, RejectionReason
from abacus.platform.postgres import Connection, array, column
from abacus.platform.sql import Statement, arrays, columns, unnested


class AllowanceRow(NamedTuple):
    """A row of `allowance`: a partner's limits, and the points that it has awarded."""

    partner_id: str
    per_award: int | None
    per_member_day: int | None
    per_day: int | None
    in_total: int | None
    used: int
    day: date
    used_that_day: int

    @property
    def allowance(self) -> Allowance:
        limits = Limits(self.per_award, self.per_member_day, self.per_day, self.in_total)
        return Allowance(limits, self.used, self.day, self.used_that_day)


class _Spent(NamedTuple):
    """The columns of `allowance` that awards change."""

    partner_id: str
    used: int
    day: date
    used_that_day: int


class _MemberDayRow(NamedTuple):
    """A row of `allowance_member`."""

    member_id: str
    partner_id: str
    day: date
    used: int

    @property
    def member_day(self) -> MemberDay:
        return MemberDay(self.member_id, self.partner_id, self.day)


# The lock on a partner's row covers its member days and rejections.
_LOCK: Final = Statement(f"""
select {columns(AllowanceRow)} from allowance where partner_id = any(:partners::text[]) order by partner_id for update
""")

_MEMBER_DAYS: Final = Statement(f"""
select {columns(_MemberDayRow, "m")}
from {unnested(MemberDay)}
join allowance_member m on m.member_id = u.member_id and m.partner_id = u.partner_id and m.day = u.day
""")

REJECTION_COLUMNS: Final = columns(Rejection)
_REJECTIONS: Final = Statement(f"select {REJECTION_COLUMNS} from rejection where key = any(:keys::text[])")

_SPEND: Final = Statement(f"""
update allowance a set used = u.used, day = u.day, used_that_day = u.used_that_day
from {unnested(_Spent)} where a.partner_id = u.partner_id
""")

_SPEND_ON_MEMBER: Final = Statement(f"""
insert into allowance_member as m ({columns(_MemberDayRow)})
select * from {unnested(_MemberDayRow)}
on conflict (member_id, partner_id, day) do update set used = excluded.used
""")

_KNOWN: Final = Statement(f"select award_id from partner_award where award_id = any({array('ids', 'uuid')})")

# An award that was accepted while the database was away may have no entry yet.
_REGISTER: Final = Statement(f"""
insert into partner_award ({PARTNER_AWARD_COLUMNS})
select * from {PARTNER_AWARD_ROWS} order by award_id
on conflict do nothing
""")


class Counted(Protocol):
    """An award or a movement of a partner."""

    @property
    def key(self) -> str: ...

    @property
    def member_id(self) -> str: ...


async def lock_standing(connection: Connection, partners: Mapping[str, Sequence[Counted]], now: datetime) -> Standing:
    """The allowances of the partners, locked; the members' use of them today, and which awards were rejected before."""
    today = now.astimezone(UTC).date()
    rows = [AllowanceRow(*row) for row in await connection.fetch(*_LOCK(partners=list(partners)))]
    allowances = {row.partner_id: row.allowance for row in rows}
    days = dict.fromkeys(
        MemberDay(award.member_id, partner_id, allowances[partner_id].on(today).day)
        for partner_id, awards in partners.items()
        if partner_id in allowances
        for award in awards
    )
    used = [_MemberDayRow(*row) for row in await connection.fetch(*_MEMBER_DAYS(**arrays(MemberDay, list(days))))]
    keys = [award.key for awards in partners.values() for award in awards]
    rejections = [rejection_of(row) for row in await connection.fetch(*_REJECTIONS(keys=keys))]
    return Standing(
        allowances,
        {row.member_day: row.used for row in used},
        {rejection.key: rejection for rejection in rejections},
    )


async def write_use(connection: Connection, spending: Spending) -> None:
    """How far the locked allowances are used now."""
    spent = [_Spent(id_, each.used, each.day, each.used_that_day) for id_, each in spending.allowances.items()]
    if spent:
        await connection.execute(*_SPEND(**arrays(_Spent, spent)))
        days = [_MemberDayRow(*day, used) for day, used in sorted(spending.member_days.items())]
        await connection.execute(*_SPEND_ON_MEMBER(**arrays(_MemberDayRow, days)))


async def write_spending(
    connection: Connection,
    partners: Mapping[str, Sequence[Award]],
    spending: Spending,
    rejections: Sequence[Rejection],
    now: datetime,
) -> None:
    await write_use(connection, spending)
    if rejections:
        await connection.copy_records_to_table("rejection", records=rejections, columns=Rejection._fields)
    awards = {award_id(award.key): (partner_id, award) for partner_id, each in partners.items() for award in each}
    for row in await connection.fetch(*_KNOWN(ids=column(awards))):
        awards.pop(row["award_id"])
    if awards:
        unknown = [
            PartnerAward.of(id_, partner_id, award, asked_at=now, queued_at=now)
            for id_, (partner_id, award) in awards.items()
        ]
        await connection.execute(*_REGISTER(**arrays(PartnerAward, unknown)))


def rejection_of(row: Sequence[Any]) -> Rejection:
    """From a row of `REJECTION_COLUMNS`."""
    rejection = Rejection(*row)
    return rejection._replace(reason=RejectionReason(rejection.reason))
