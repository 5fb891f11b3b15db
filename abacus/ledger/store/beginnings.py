"""Accounts and transfers by the beginning of a name that people know. Each look is a few steps along a primary key,
whatever the size of the ledger; no statement reads a table.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns

_BEYOND: Final = "\U0010ffff"  # no name has it: names that begin with a text lie before the text and this
_ACCOUNTS_LOOKED_AT: Final = 1000
_FAMILIES: Final = ("txn:", "refund:", "api:")  # keys of these end with the id that a source, or a partner, gave


class AccountFound(NamedTuple):
    """An account whose member's id begins so."""

    member_id: str
    program: str
    country: str
    balance: int


class TransferFound(NamedTuple):
    """A transfer whose key begins so, or ends with an id that does."""

    key: str
    member_id: str
    program: str
    country: str
    points: int
    posted_at: datetime


_ACCOUNTS: Final = Statement(f"""
select {columns(AccountFound)} from (
    select {columns(AccountFound)} from account where member_id >= :text and member_id < :beyond
    order by member_id, program limit {_ACCOUNTS_LOOKED_AT}
) a
where :countries::text[] is null or country = any(:countries)
order by member_id, program limit :most
""")

# Each claim looks its transfer up: for a join, the planner expects so many claims that it reads all transfers.
_FOUND: Final = f"""
select {columns(TransferFound, "t")} from found c cross join lateral (
    select * from transfer t where t.member_id = c.member_id and t.program = c.program and t.seq = c.seq limit 1
) t
where :countries::text[] is null or t.country = any(:countries)
order by t.key limit :most
"""
_BY_KEY: Final = Statement(f"""
with found as (
    select member_id, program, seq from claim where key >= :text and key < :beyond order by key limit :looked_at
)
{_FOUND}
""")

# The sources of each family, by one step along the key for each: from one source to the first key beyond it.
_BY_ID: Final = Statement(f"""
with recursive source (family, prefix) as (
    select f.family, (
        select substring(key from '^[a-z]+:[^:]*:') from claim
        where key >= f.family and key < f.family || :beyond order by key limit 1
    )
    from unnest(:families::text[]) as f (family)
    union all
    select s.family, (
        select substring(key from '^[a-z]+:[^:]*:') from claim
        where key >= s.prefix || :beyond and key < s.family || :beyond order by key limit 1
    )
    from source s where s.prefix is not null
),
known as (select prefix from source where prefix is not null limit :most_sources),
found as (
    select c.* from known k cross join lateral (
        select member_id, program, seq from claim
        where key >= k.prefix || :text and key < k.prefix || :text || :beyond order by key limit :looked_at
    ) c
)
{_FOUND}
""")
_MOST_SOURCES: Final = 100
_LOOKED_AT: Final = 50


async def accounts_beginning(
    pool: Pool, text: str, countries: Sequence[str] | None, most: int
) -> Sequence[AccountFound]:
    """By member, among the first thousand accounts that begin so. Raises `Unavailable`."""
    given = {"text": text, "beyond": text + _BEYOND, "countries": countries, "most": most}
    rows = await slices.rows_in_reach(pool, _ACCOUNTS(**given))
    return sorted(AccountFound(*row) for row in rows)[:most]


async def transfers_beginning(
    pool: Pool, text: str, countries: Sequence[str] | None, most: int
) -> Sequence[TransferFound]:
    """By their whole key where the text has a colon, or else by the id that a source or a partner gave. Raises
    `Unavailable`.
    """
    given: dict[str, object] = {"text": text, "countries": countries, "most": most, "looked_at": _LOOKED_AT}
    if ":" in text:
        statement = _BY_KEY(**given, beyond=text + _BEYOND)
    else:
        statement = _BY_ID(**given, beyond=_BEYOND, families=list(_FAMILIES), most_sources=_MOST_SOURCES)
    rows = await slices.rows_in_reach(pool, statement)
    return sorted(TransferFound(*row) for row in rows)[:most]
