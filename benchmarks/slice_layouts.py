"""The ways in which the rows of a slice can be kept apart from those of the others: where they lie, and how they are
posted to. docs/adr/0061 chooses by these figures.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple
from zlib import crc32

from abacus.core.clock import SystemClock
from abacus.ledger.store.budgets import Whole
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.port import AwardOutcome, Claim
from abacus.platform.postgres import Connection, Pool

HEAD: Final = "create table {schema}.head (number smallint primary key default 0, place bigint not null default 0)"

# What lies with a member or under a key, and so in the member's slice.
IN_A_SLICE: Final = (
    *("account", "transfer", "draw", "hold", "sealed_leaf", "member_number", "allowance_member", "membership"),
    *("account_tier", "action", "campaign_progress", "tier_tally", "tier_change", "notice", "notification"),
    *("notification_preference", "claim", "campaign_claim", "rejection", "partner_award", "webhook_delivery"),
)

_TRIGGERS: Final = """
select pg_get_triggerdef(t.oid) as made
from pg_trigger t where t.tgrelid = $1::regclass and not t.tgisinternal
"""


class Apart(Enum):
    """What keeps the rows of slices apart."""

    NOTHING = "one ledger"
    SCHEMAS = "a schema each"
    COLUMN = "a column"


class Way(NamedTuple):
    """A layout, and how a session finds its slice in it."""

    apart: Apart
    slices: int
    # The session is led to the slice in each transaction; otherwise each slice has connections of its own.
    led: bool = False
    # The first statement of each transaction takes the next place in the order of commits.
    places: bool = False

    @property
    def prefix(self) -> str:
        """What the names of its schemas begin with."""
        return f"{self.apart.name.lower()}{self.slices}{'_places' if self.places else ''}"

    @property
    def schemas(self) -> Sequence[str]:
        many = self.slices if self.apart is Apart.SCHEMAS else 1
        return [f"{self.prefix}_{number}" for number in range(many)]

    def __str__(self) -> str:
        name = self.apart.value if self.slices == 1 else f"{self.slices} slices, {self.apart.value}"
        name += ", connections shared by all" if self.led else ""
        return name + (", a place in each transaction" if self.places else "")


def slice_of(member_id: str, slices: int) -> int:
    return crc32(member_id.encode()) % slices


def by_slice(awards: Iterable[Award], slices: int, size: int) -> list[tuple[int, Sequence[Award]]]:
    """Batches of one slice each, the slices by turns."""
    found: list[list[Award]] = [[] for _ in range(slices)]
    for award in awards:
        found[slice_of(award.member_id, slices)].append(award)
    longest = max(map(len, found))
    return [
        (number, awards[start : start + size])
        for start in range(0, longest, size)
        for number, awards in enumerate(found)
        if start < len(awards)
    ]


async def make(connection: Connection, way: Way, accounts: int) -> None:
    """The tables of each slice like those of the migrated ledger, and its accounts."""
    for number, schema in enumerate(way.schemas):
        await connection.execute(f"create schema {schema}; grant usage on schema {schema} to abacus_app")
        for table in IN_A_SLICE:
            await connection.execute(f"create table {schema}.{table} (like public.{table} including all)")
            for row in await connection.fetch(_TRIGGERS, f"public.{table}"):
                await connection.execute(row["made"].replace(f" ON public.{table} ", f" ON {schema}.{table} "))
        await connection.execute(HEAD.format(schema=schema) + f"; insert into {schema}.head default values")
        if way.apart is Apart.COLUMN:
            await _cut_by_column(connection, schema)
        await connection.execute(f"grant all on all tables in schema {schema} to abacus_app")
        members = [f"m{member:08}" for member in range(accounts)]
        slices = [slice_of(member, way.slices) for member in members]
        if way.apart is Apart.COLUMN:
            rows = [(*_account(member), place) for member, place in zip(members, slices, strict=True)]
        else:
            rows = [_account(member) for member, place in zip(members, slices, strict=True) if place == number]
        columns = ("member_id", "program", "country", "slice")[: len(rows[0])]
        await connection.copy_records_to_table("account", schema_name=schema, records=rows, columns=columns)
        await connection.execute(f"vacuum analyze {schema}.account", timeout=600)


def _account(member_id: str) -> tuple[Any, ...]:
    return member_id, "GRP", "SG"


async def _cut_by_column(connection: Connection, schema: str) -> None:
    for table, key in (
        ("account", "member_id, program"),
        ("transfer", "member_id, program, seq"),
        ("claim", "key"),
    ):
        await connection.execute(
            f"alter table {schema}.{table} drop constraint {table}_pkey, add column slice smallint not null,"
            f" add primary key (slice, {key})"
        )


class SliceLedger(PostgresLedger):
    """Posts to one slice, as the awarders do in every other respect."""

    def __init__(self, pool: Pool, way: Way, number: int) -> None:
        super().__init__(pool, SystemClock())
        self._way = way
        self._number = number

    async def _post(
        self, connection: Connection, awards: Sequence[Award], elsewhere: Mapping[str, Claim], whole: Whole
    ) -> list[AwardOutcome]:
        if self._way.led:
            await connection.execute(f"set local search_path = {self._way.schemas[self._number]}, public")
        if self._way.places:
            await connection.fetchval("update head set place = place + 1 where number = 0 returning place")
        if self._way.apart is Apart.COLUMN:
            connection = _InSlice(connection, self._number)
        return await super()._post(connection, awards, elsewhere, whole)


class _InSlice:
    """Adds the column of the slice to what posting sends."""

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self._number = number

    async def fetch(self, text: str, *values: object) -> Any:
        return await self._connection.fetch(_with_slice(text), *values, self._number)

    async def fetchval(self, text: str, *values: object) -> Any:
        return await self._connection.fetchval(_with_slice(text), *values, self._number)

    async def copy_records_to_table(self, table: str, *, records: Sequence[Any], columns: Sequence[str]) -> None:
        rows = [(*record, self._number) for record in records]
        await self._connection.copy_records_to_table(table, records=rows, columns=(*columns, "slice"))


@cache
def _with_slice(text: str) -> str:
    number = 1 + max(map(int, re.findall(r"\$(\d+)", text)))
    changed = text
    for before, named in (
        ("from claim where ", ""),
        ("join account a on ", "a."),
        ("where a.ctid", "a."),
    ):
        where = before.removesuffix("a.ctid")
        changed = changed.replace(before, f"{where}{named}slice = ${number} and {before.removeprefix(where)}")
    if changed == text:
        raise AssertionError(f"not a statement of posting to accounts that are there: {text}")
    return changed
