"""Accounts with points that will expire, read in pages along an index."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import Any, Final, NamedTuple

from abacus.core.merge import merged_page, page_size
from abacus.engage.notify.decide.ahead import Expiry
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns, row_of
from abacus.programs.expiry.lapsing_sql import lapsing

_BATCH: Final = 1000


class AccountCursor(NamedTuple):
    """Where an account stands in the order of days, members and programs."""

    expires_on: date
    member_id: str
    program: str


BEFORE_ALL: Final = AccountCursor(date.min, "", "")

# The next accounts, each with its points that expire within the window, a row a lot; an account without any is still a
# place to go on from. Points that are held do not expire until they are released.
NEXT: Final = Statement(f"""
select {columns(AccountCursor, "a")}, a.country, l.points, l.lapses_on, a.lifetime
from (
    select * from account
    where country = :country and expires_on <= :last
        and (expires_on, member_id, program) > (:expires_on, :member_id, :program)
        and balance > held
    order by expires_on, member_id, program
    limit :most
) a
left join lateral {lapsing("a")} l on l.lapses_on between :first and :last and l.points > 0
order by a.expires_on, a.member_id, a.program
""")


class _Lot(NamedTuple):
    """Points of an account that expire on one day."""

    country: str
    points: int
    lapses_on: date
    lifetime: bool


class ExpiringAccount(NamedTuple):
    """An account with its points that expire within the window."""

    place: AccountCursor
    lots: Sequence[_Lot]

    def expiries(self) -> list[Expiry]:
        """One for each day."""
        days: dict[date, Expiry] = {}
        for lot in self.lots:
            day, so_far = lot.lapses_on, days.get(lot.lapses_on)
            points = lot.points + (so_far.points if so_far is not None else 0)
            days[day] = Expiry(self.place.member_id, self.place.program, lot.country, points, day, lot.lifetime)
        return list(days.values())


async def expiring(
    pool: Pool,
    country: str,
    days: tuple[date, date],
    after: AccountCursor,
    within: Sequence[slices.Slice] | None = None,
) -> list[ExpiringAccount]:
    """The next accounts behind a place, with their points that expire from one day to another: of all slices, or of
    some. Raises `Unavailable`.
    """
    all_of_them = await slices.slices_of(pool)
    size = page_size(_BATCH, len(all_of_them))
    statement = NEXT(country=country, first=days[0], last=days[1], most=size, **after._asdict())
    parts = {each.number: [each] for each in (all_of_them if within is None else within)}
    read = slices.fetched_by(lambda _: statement)
    pages = (await slices.in_slices(pool, parts, read, patience_s=None)).whole()
    return merged_page([_accounts(page) for page in pages], size, lambda account: account.place)


def _accounts(rows: Sequence[Any]) -> list[ExpiringAccount]:
    """The accounts of a page, from a row a lot; the only row of an account without lots has no day."""
    by_place = groupby(rows, lambda row: row_of(AccountCursor, row))
    return [
        ExpiringAccount(place, [row_of(_Lot, row) for row in lots if row["lapses_on"] is not None])
        for place, lots in by_place
    ]
