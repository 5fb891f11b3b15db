"""The offers that members are invited to: one row a member, in the member's slice."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, array, column

_INVITED: Final = Statement(f"""
select member_id, offers from offer_invitation where member_id = any({array("members", "text")})
""")


async def invited(pool: Pool, member_ids: Collection[str]) -> Mapping[str, frozenset[int]]:
    """The numbers of the offers, without members that have none. Raises `Unavailable`."""
    found = await slices.split(
        pool, member_ids, slices.fetched_by(_rows), member_of=lambda member_id: member_id, patience_s=None
    )
    return {row["member_id"]: frozenset(row["offers"]) for row in chain.from_iterable(found.whole())}


def _rows(member_ids: Sequence[str]) -> tuple[Any, ...]:
    return _INVITED(members=column(member_ids))
