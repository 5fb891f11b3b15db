"""What owners have used of their limits, for reports."""

from collections.abc import Sequence
from typing import Final

from abacus.engage.limits.decide.pots import Pot
from abacus.engage.limits.types import NOTHING, Amounts
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

_THESE: Final = """
owner_kind = :owner_kind and owner = any(:owners::text[]) and (:period::text is null or period = :period)
"""
_HANDED_OUT: Final = Statement(f"""
select owner_kind, owner, period, runs, points, cost from limit_pot where {_THESE}
""")
_IN_SLOTS: Final = Statement(f"""
select owner_kind, owner, period, -sum(runs)::bigint, -sum(points)::bigint, -sum(cost)::bigint
from limit_slot where {_THESE} group by owner_kind, owner, period
""")


async def used(
    connection: Connection, owner_kind: str, owners: Sequence[str], period: str | None
) -> dict[Pot, Amounts]:
    """What was handed out of the pots of these owners, of one period or of all, and is in no slot any more. On several
    servers something may come into a slot after the pots were read.
    """
    asked = {"owner_kind": owner_kind, "owners": list(owners), "period": period}
    handed_out = await connection.fetch(*_HANDED_OUT(**asked))
    found = {Pot(*row[:3]): Amounts(*row[3:]) for row in handed_out}
    for *pot, runs, points, cost in await slices.sums(connection, _IN_SLOTS(**asked), facts=3):
        place = Pot(*pot)
        found[place] = found.get(place, NOTHING).plus(Amounts(runs, points, cost)).at_least(NOTHING)
    return found
