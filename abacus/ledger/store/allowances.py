"""The rows of partners' allowances. In a ledger in slices `allowance` has the whole, at one place, and each slice has a
part of it in `allowance_part`.

Locks are taken in one order: the whole, then parts, slice by slice. Nobody who holds parts waits for the whole. On
several servers the whole and a part are not committed in the same moment. That does no harm: what a slice may award is
said by its part alone.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date
from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from abacus.ledger.decide.allowance import Allowance, Elsewhere, Short
from abacus.ledger.decide.budgets import added_up, counted, opened, returned, with_all
from abacus.ledger.types.limits import Limits
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.slices import Slice, slices_of
from abacus.platform.sql import Statement, arrays, columns, parameters, unnested


class AllowanceRow(NamedTuple):
    """A row of `allowance`: a partner's limits, and the points that it has awarded; in a ledger in slices, the points
    that slices have awarded or may award.
    """

    partner_id: str
    per_award: int | None
    per_member_day: int | None
    per_day: int | None
    in_total: int | None
    used: int
    day: date
    used_that_day: int

    @classmethod
    def of(cls, partner_id: str, whole: Allowance) -> "AllowanceRow":
        return cls(partner_id, *whole.limits, whole.used, whole.day, whole.used_that_day)

    @property
    def allowance(self) -> Allowance:
        limits = Limits(self.per_award, self.per_member_day, self.per_day, self.in_total)
        return Allowance(limits, self.used, self.day, self.used_that_day)


class PartRow(NamedTuple):
    """A row of `allowance_part`: the same of a slice, and what of the budgets is elsewhere."""

    partner_id: str
    per_award: int | None
    per_member_day: int | None
    per_day: int | None
    in_total: int | None
    used: int
    day: date
    used_that_day: int
    elsewhere: int
    elsewhere_that_day: int

    @classmethod
    def of(cls, partner_id: str, part: Allowance) -> "PartRow":
        return cls(*AllowanceRow.of(partner_id, part), *(part.elsewhere or Elsewhere(0, 0)))

    @property
    def part(self) -> Allowance:
        elsewhere = Elsewhere(self.elsewhere, self.elsewhere_that_day)
        return AllowanceRow(*self[:8]).allowance._replace(elsewhere=elsewhere)


# The lock on a partner's row covers its member days and rejections; in a ledger in slices, that on its part does.
_LOCK: Final = Statement(f"""
select {columns(AllowanceRow)} from allowance where partner_id = any(:partners::text[]) order by partner_id for update
""")
_LOCK_PARTS: Final = Statement(f"""
select {columns(PartRow)} from allowance_part where partner_id = any(:partners::text[]) order by partner_id for update
""")
_SPEND: Final = Statement(f"""
update allowance a set used = u.used, day = u.day, used_that_day = u.used_that_day
from {unnested(AllowanceRow)} where a.partner_id = u.partner_id
""")
_LIMITED_AND_SPENT: Final = [name for name in PartRow._fields if name != "partner_id"]
_WRITE_PARTS: Final = Statement(f"""
update allowance_part p set {", ".join(f"{name} = u.{name}" for name in _LIMITED_AND_SPENT)}
from {unnested(PartRow)} where p.partner_id = u.partner_id
""")
_OPEN_PART: Final = Statement(f"""
insert into allowance_part ({columns(PartRow)}) values ({parameters(PartRow)}) on conflict do nothing
""")
_ALL: Final = f"select {columns(AllowanceRow)} from allowance order by partner_id"
_ALL_PARTS: Final = f"select {columns(PartRow)} from allowance_part order by partner_id"


async def lock(
    connection: Connection, partners: Collection[str], whole: Collection[str], today: date
) -> dict[str, Allowance]:
    """The allowances of the partners, locked: the slice's, if the ledger is cut, and then partners in `whole` have all
    that is left, in a transaction that ends on all servers alike. Raises `Short` for a partner that the slice does not
    know yet.
    """
    home = connection.slice_schema
    if home is None:
        return await lock_wholes(connection, partners)
    if whole:
        in_slices = await _locked_and_counted(connection, whole, today, here=partners)
        parts = in_slices[home]
        for partner_id in set(whole).intersection(parts):
            others = [each[partner_id] for at, each in in_slices.items() if at != home and partner_id in each]
            parts[partner_id] = with_all(parts[partner_id], others)
    else:
        parts = await lock_parts(connection, partners)
    if missing := set(partners).difference(parts, whole):
        raise Short(dict.fromkeys(missing, 0))
    return parts


async def write(connection: Connection, allowances: Mapping[str, Allowance], whole: Collection[str]) -> None:
    """Writes allowances that `lock` gave, as they are now. What partners in `whole` have left goes back."""
    if connection.slice_schema is None:
        await write_wholes(connection, allowances)
        return
    back = {partner_id: returned(part) for partner_id, part in allowances.items() if partner_id in whole}
    if back:
        await write_wholes(connection, {partner_id: each.whole for partner_id, each in back.items()})
    await write_parts(connection, {**allowances, **{partner_id: each.part for partner_id, each in back.items()}})


async def count_anew(connection: Connection, partner_id: str, today: date) -> None:
    """Take out of all hands what is left of a partner's budgets, because they were changed."""
    if connection.slice_schema is not None:
        await _locked_and_counted(connection, [partner_id], today)


async def lock_wholes(connection: Connection, partners: Iterable[str]) -> dict[str, Allowance]:
    rows = await connection.fetch(*_LOCK(partners=list(partners)))
    return {row.partner_id: row.allowance for row in map(AllowanceRow._make, rows)}


async def lock_parts(connection: Connection, partners: Iterable[str]) -> dict[str, Allowance]:
    rows = await slices.locked(connection, *_LOCK_PARTS(partners=list(partners)))
    return {row.partner_id: row.part for row in map(PartRow._make, rows)}


async def open_parts(connection: Connection, wholes: Mapping[str, Allowance]) -> None:
    """Where the slice has none yet."""
    rows = [PartRow.of(partner_id, opened(wholes[partner_id]))._asdict() for partner_id in sorted(wholes)]
    await connection.executemany(*_OPEN_PART.rows(rows))


async def write_wholes(connection: Connection, wholes: Mapping[str, Allowance]) -> None:
    rows = [AllowanceRow.of(*each) for each in wholes.items()]
    await connection.execute(*_SPEND(**arrays(AllowanceRow, rows)))


async def write_parts(connection: Connection, parts: Mapping[str, Allowance]) -> None:
    rows = [PartRow.of(*each) for each in parts.items()]
    await connection.execute(*_WRITE_PARTS(**arrays(PartRow, rows)))


async def wholes_on(connection: Connection) -> dict[str, Allowance]:
    """The whole allowances of all partners."""
    return {row.partner_id: row.allowance for row in map(AllowanceRow._make, await connection.fetch(_ALL))}


async def parts_on(connection: Connection) -> dict[str, Allowance]:
    """The parts of the slice that the connection is led to; the wholes, where the ledger is not cut."""
    if connection.slice_schema is None:
        return await wholes_on(connection)
    return {row.partner_id: row.part for row in map(PartRow._make, await connection.fetch(_ALL_PARTS))}


async def awarded(pool: Pool, *, within_s: float | None = None) -> dict[str, Allowance]:
    """What each partner has awarded, without slices that cannot be read, or not within `within_s`. Raises
    `Unavailable`.
    """
    async with passing_failures(), pool.acquire() as connection:
        wholes = await wholes_on(connection)
    if len(parts := await slices_of(pool)) == 1:
        return wholes
    in_slices = await asyncio.gather(*(_in_reach(each, within_s) for each in parts))
    return {
        partner_id: added_up(whole, [each[partner_id] for each in in_slices if partner_id in each])
        for partner_id, whole in wholes.items()
    }


async def _in_reach(slice_: Slice, within_s: float | None) -> dict[str, Allowance]:
    with suppress(Unavailable, TimeoutError):
        async with asyncio.timeout(within_s), slice_.at() as connection:
            return await parts_on(connection)
    return {}


async def _locked_and_counted(
    connection: Connection, partners: Collection[str], today: date, *, here: Collection[str] = ()
) -> dict[str | None, dict[str, Allowance]]:
    """Locks the whole and all parts of these partners and takes what is left out of all hands. Returns the parts by
    slice; the slice that the connection is led to also has the parts of `here`, as they are.
    """
    home, wholes = connection.slice_schema, await lock_wholes(connection, partners)

    async def lock_here() -> tuple[str | None, dict[str, Allowance]]:
        is_home = connection.slice_schema == home
        return connection.slice_schema, await lock_parts(connection, {*partners, *here} if is_home else partners)

    in_slices = dict(await slices.each(connection, lock_here))
    for partner_id, whole in wholes.items():
        parts = {schema: each[partner_id] for schema, each in in_slices.items() if partner_id in each}
        for schema, part in counted(whole, parts, today).items():
            in_slices[schema][partner_id] = part
        wholes[partner_id] = added_up(whole, [each[partner_id] for each in in_slices.values() if partner_id in each])

    async def write_here() -> None:
        parts = in_slices[connection.slice_schema]
        await write_parts(connection, {partner_id: parts[partner_id] for partner_id in parts.keys() & wholes.keys()})

    await slices.each(connection, write_here)
    await write_wholes(connection, wholes)
    return in_slices
