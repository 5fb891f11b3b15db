"""Accounts' tiers in Postgres: read under their locks, written back as they were decided.

Every writer (the keeper, the end of a period, an operator) holds the account's row in `account_tier`, and takes
several rows in sorted order, so two writers cannot wait for each other. New rows come last, also sorted.
"""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Final, NamedTuple

import asyncpg

from abacus.ledger.types.account import AccountId
from abacus.platform.postgres import Connection, is_duplicate
from abacus.platform.sql import Statement, array, column, columns, text_arrays, text_columns
from abacus.programs.tiers.decide.policy import LONG_AGO, Period, Reached, Tally
from abacus.programs.tiers.decide.tier_change import AccountTier, Change, Known


class TallyRow(NamedTuple):
    """A tally as it is stored."""

    member_id: str
    program: str
    starts_on: date
    ends_on: date
    until: date
    earned: int
    tier: str
    threshold: int

    @property
    def tally(self) -> Tally:
        return Tally(Period(self.starts_on, self.ends_on, self.until), self.earned, Reached(self.tier, self.threshold))


# The accounts are sorted; `place` keeps that order, and tells which account a row is without sending its name back.
_WANTED: Final = (
    f"unnest({array('member_ids', 'text')}, {array('programs', 'text')})"
    " with ordinality as u (member_id, program, place)"
)

_ACCOUNTS: Final = f"""
select u.place, a.country, a.tier, a.until, a.last_seq, a.changes
from {_WANTED} join account_tier a on a.member_id = u.member_id and a.program = u.program
order by u.place
"""
_LOOK: Final = Statement(_ACCOUNTS)
_LOCK: Final = Statement(f"{_ACCOUNTS} for update of a")

_TALLIES: Final = Statement(f"""
select u.place, t.starts_on, t.ends_on, t.until, t.earned, t.tier, t.threshold
from {_WANTED} join tier_tally t on t.member_id = u.member_id and t.program = u.program
where t.until > :lasting_beyond
""")

_OVERRIDES: Final = Statement(f"""
select u.place, m.tier from {_WANTED} join membership m on m.member_id = u.member_id and m.program = u.program
""")

_UPDATE: Final = Statement(f"""
update account_tier a
set country = u.country, tier = u.tier, until = u.until, last_seq = u.last_seq, changes = u.changes
from unnest({text_arrays(AccountTier)}) as u ({columns(AccountTier)})
where a.member_id = u.member_id and a.program = u.program
""")

_COUNT: Final = Statement(f"""
update tier_tally t
set earned = u.earned, tier = u.tier, threshold = u.threshold
from unnest({text_arrays(TallyRow)}) as u ({columns(TallyRow)})
where t.member_id = u.member_id and t.program = u.program and t.starts_on = u.starts_on and t.ends_on = u.ends_on
""")


class Overtaken(Exception):
    """Another transaction opened one of the accounts after our look."""


async def lock(connection: Connection, ids: Collection[AccountId]) -> dict[AccountId, AccountTier]:
    """Lock the accounts that have a row, until the transaction ends."""
    return await _rows(connection, _LOCK, ids)


async def look(connection: Connection, ids: Collection[AccountId]) -> dict[AccountId, AccountTier]:
    """The same without a lock, for showing."""
    return await _rows(connection, _LOOK, ids)


async def _rows(
    connection: Connection, statement: Statement, ids: Collection[AccountId]
) -> dict[AccountId, AccountTier]:
    ordered = sorted(ids)
    rows = await connection.fetch(*statement(**_names(ordered)))
    return {ordered[place - 1]: AccountTier(*ordered[place - 1], *values) for place, *values in rows}


async def know(
    connection: Connection,
    ids: Collection[AccountId],
    rows: dict[AccountId, AccountTier],
    *,
    lasting_beyond: date = LONG_AGO,
) -> dict[AccountId, Known]:
    """The accounts of these rows in full, with the tallies that last beyond that day."""
    ordered = sorted(ids)
    names = _names(ordered)
    tallies: dict[AccountId, dict[Period, Tally]] = {id_: {} for id_ in ordered}
    rows_of_tallies = await connection.fetch(*_TALLIES(lasting_beyond=lasting_beyond, **names))
    for place, *row in rows_of_tallies:
        tally = TallyRow(*ordered[place - 1], *row).tally
        tallies[ordered[place - 1]][tally.period] = tally
    overrides = {ordered[place - 1]: tier for place, tier in await connection.fetch(*_OVERRIDES(**names))}
    return {id_: Known(rows.get(id_) or AccountTier.opened(id_), tallies[id_], overrides.get(id_)) for id_ in ordered}


async def write(
    connection: Connection,
    locked: Collection[AccountId],
    changed: Sequence[tuple[Known, Known]],
    changes: Sequence[Change],
) -> None:
    """Write accounts, given as pairs of before and after. Raises `Overtaken`."""
    accounts = [(after.account, after.account.id in locked) for before, after in changed if before != after]
    await _enter(connection, "account_tier", sorted(account for account, is_locked in accounts if not is_locked))
    if old := sorted(account for account, is_locked in accounts if is_locked):
        await connection.execute(*_UPDATE(**text_columns(AccountTier, old)))
    opened: list[TallyRow] = []
    counted: list[TallyRow] = []
    for before, after in changed:
        known = {(period.starts_on, period.ends_on) for period in before.tallies}
        for period, tally in after.tallies.items():
            if before.tallies.get(period) != tally:
                is_known = (period.starts_on, period.ends_on) in known
                row = TallyRow(*after.account.id, *tally.period, tally.earned, *tally.reached)
                (counted if is_known else opened).append(row)
    await _enter(connection, "tier_tally", opened)
    if counted:
        await connection.execute(*_COUNT(**text_columns(TallyRow, counted)))
    await _enter(connection, "tier_change", changes)


async def _enter(
    connection: Connection, table: str, rows: Sequence[AccountTier] | Sequence[TallyRow] | Sequence[Change]
) -> None:
    """Write new rows. They are copied, because an insertion of many rows has no plan before its values are known, and
    on Citus none at all then. Raises `Overtaken`.
    """
    if not rows:
        return
    try:
        await connection.copy_records_to_table(table, records=rows, columns=rows[0]._fields)
    except asyncpg.PostgresError as error:
        if is_duplicate(error):
            raise Overtaken from error
        raise


def _names(ids: Sequence[AccountId]) -> dict[str, str]:
    return {
        "member_ids": column(member_id for member_id, _ in ids),
        "programs": column(program for _, program in ids),
    }
