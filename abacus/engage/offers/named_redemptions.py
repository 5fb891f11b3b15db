"""Redemptions that transactions of a member name, with what was saved together with each."""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from abacus.engage.offers.decide.paid import Recalled
from abacus.engage.offers.decide.reservation import Redemption
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, columns

READ: Final = columns(Redemption, "d").replace("d.items", "d.items::text as items")

# Offers that were reserved by one request are paid with one basket: their keys differ in the number at the end alone.
SAVED: Final = """(
    select sum(s.saves)::bigint from offer_redemption s
    where s.member_id = d.member_id
        and regexp_replace(s.reservation_key, ':[0-9]+$', '') = regexp_replace(d.reservation_key, ':[0-9]+$', ''))"""

_NAMED: Final = Statement(f"""
select {READ}, {SAVED} as saved from offer_redemption d
where d.member_id = :member_id and d.redemption_id = any(:ids::uuid[])
""")


async def named_redemptions(pool: Pool, member_id: str, ids: Collection[UUID]) -> Mapping[UUID, Recalled]:
    """Redemptions that are not the member's are left out. Raises `Unavailable`."""
    async with slices.at(pool, member_id) as connection:
        rows = await connection.fetch(*_NAMED(member_id=member_id, ids=list(ids)))
    return {row["redemption_id"]: Recalled(Redemption(*row[:-1]), row["saved"]) for row in rows}
