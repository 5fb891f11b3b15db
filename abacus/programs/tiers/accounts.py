"""Accounts' tiers in Postgres: read under their locks, written back as they were decided.

Whoever changes anything of an account (the keeper, the end of a period, an operator) holds its row in `account_tier`,
and takes several in sorted order, so two cannot wait for each other. New rows come last, also sorted.
"""

from collections.abc import Collection, Sequence
from datetime import date
from typing import Final

from abacus.ledger.types.account import AccountId
from abacus.platform.postgres import Connection, array, column
from abacus.programs.tiers.decide.keeping import AccountTier, Change, Known
from abacus.programs.tiers.decide.policy import LONG_AGO, Period, Reached, Tally

_ASKED: Final = f"unnest({array(1, 'text')}, {array(2, 'text')}) with ordinality as u (member_id, program, place)"

# What is asked for is sorted; `place` keeps that order, and tells which account a row is without sending its name back.
_LOOK: Final = f"""
select u.place, a.country, a.tier, a.until, a.last_seq, a.changes
from {_ASKED} join account_tier a on a.member_id = u.member_id and a.program = u.program
order by u.place
"""
_LOCK: Final = f"{_LOOK} for update of a"

_TALLIES: Final = f"""
select u.place, t.starts_on, t.ends_on, t.until, t.earned, t.tier, t.threshold
from {_ASKED} join tier_tally t on t.member_id = u.member_id and t.program = u.program
where t.until > $3
"""

_OVERRIDES: Final = f"""
select u.place, m.tier from {_ASKED} join membership m on m.member_id = u.member_id and m.program = u.program
"""

_ACCOUNT_ROWS: Final = f"""
select * from unnest(
    {array(1, "text")}, {array(2, "text")}, {array(3, "text")}, {array(4, "text")}, {array(5, "date")},
    {array(6, "bigint")}, {array(7, "bigint")}
)
"""

_OPEN: Final = f"""
insert into account_tier (member_id, program, country, tier, until, last_seq, changes) {_ACCOUNT_ROWS}
on conflict do nothing
"""

_UPDATE: Final = f"""
update account_tier a
set country = u.country, tier = u.tier, until = u.until, last_seq = u.last_seq, changes = u.changes
from ({_ACCOUNT_ROWS}) as u (member_id, program, country, tier, until, last_seq, changes)
where a.member_id = u.member_id and a.program = u.program
"""

_COUNT: Final = f"""
insert into tier_tally (member_id, program, starts_on, ends_on, until, earned, tier, threshold)
select * from unnest(
    {array(1, "text")}, {array(2, "text")}, {array(3, "date")}, {array(4, "date")}, {array(5, "date")},
    {array(6, "bigint")}, {array(7, "text")}, {array(8, "bigint")}
)
on conflict (member_id, program, starts_on, ends_on)
do update set earned = excluded.earned, tier = excluded.tier, threshold = excluded.threshold
"""


class Overtaken(Exception):
    """Another transaction opened one of the accounts after our look."""


async def lock(connection: Connection, ids: Collection[AccountId]) -> dict[AccountId, AccountTier]:
    """Those of the accounts that have a row, now ours until the transaction ends."""
    return await _rows(connection, _LOCK, ids)


async def look(connection: Connection, ids: Collection[AccountId]) -> dict[AccountId, AccountTier]:
    """The same, and nobody's: for showing."""
    return await _rows(connection, _LOOK, ids)


async def _rows(connection: Connection, query: str, ids: Collection[AccountId]) -> dict[AccountId, AccountTier]:
    ordered = sorted(ids)
    rows = await connection.fetch(query, *_names(ordered))
    return {ordered[place - 1]: AccountTier(*ordered[place - 1], *values) for place, *values in rows}


async def know(
    connection: Connection,
    ids: Collection[AccountId],
    rows: dict[AccountId, AccountTier],
    *,
    lasting_beyond: date = LONG_AGO,
) -> dict[AccountId, Known]:
    """All that is to be known of the accounts whose rows these are, with the tallies that last beyond that day."""
    ordered = sorted(ids)
    names = _names(ordered)
    tallies: dict[AccountId, dict[Period, Tally]] = {id_: {} for id_ in ordered}
    for place, starts_on, ends_on, until, earned, tier, threshold in await connection.fetch(
        _TALLIES, *names, lasting_beyond
    ):
        period = Period(starts_on, ends_on, until)
        tallies[ordered[place - 1]][period] = Tally(period, earned, Reached(tier, threshold))
    overrides = {ordered[place - 1]: tier for place, tier in await connection.fetch(_OVERRIDES, *names)}
    return {id_: Known(rows.get(id_) or AccountTier.opened(id_), tallies[id_], overrides.get(id_)) for id_ in ordered}


async def write(
    connection: Connection,
    locked: Collection[AccountId],
    changed: Sequence[tuple[Known, Known]],
    changes: Sequence[Change],
) -> None:
    """What became of accounts, as pairs of before and after. Raises `Overtaken`."""
    accounts = [(after.account, after.account.id in locked) for before, after in changed if before != after]
    new = sorted(account for account, is_locked in accounts if not is_locked)
    old = sorted(account for account, is_locked in accounts if is_locked)
    if new and await connection.execute(_OPEN, *_columns(new)) != f"INSERT 0 {len(new)}":
        raise Overtaken
    if old:
        await connection.execute(_UPDATE, *_columns(old))
    tallies = [
        (*after.account.id, *tally.period, tally.earned, *tally.reached)
        for before, after in changed
        for period, tally in after.tallies.items()
        if before.tallies.get(period) != tally
    ]
    if tallies:
        await connection.execute(_COUNT, *_columns(tallies))
    if changes:
        await connection.copy_records_to_table("tier_change", records=changes, columns=Change._fields)


def _names(ids: Sequence[AccountId]) -> tuple[str, str]:
    return column(member_id for member_id, _ in ids), column(program for _, program in ids)


def _columns(rows: Sequence[tuple[object, ...]]) -> list[str]:
    return [column(values) for values in zip(*rows, strict=True)]
