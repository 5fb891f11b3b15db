"""Members of a journey who are held: an event that moves them cannot be decided yet, so they stay where they are, and
what comes of them afterwards waits behind it. In the slice of the members.
"""

from collections.abc import Collection, Iterable
from typing import Final

from abacus.engage.journeys.asking import Untold
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

# Whether anybody is, in a journey.
ARE_HELD: Final = "exists(select from journey_entry_aside h where h.journey = :journey and h.moves)"
_HELD: Final = Statement(f"""
select u.member_id from unnest(:members::text[]) as u (member_id) where {ARE_HELD} and exists(
    select from journey_entry_aside a where a.member_id = u.member_id and a.journey = :journey and a.moves
)
""")


class Held(Untold):
    """Members are held, by their ids and the keys of what comes now. To wait a moment changes nothing."""

    def __init__(self, places: Iterable[tuple[str, str]]) -> None:
        super().__init__("an earlier event of the member cannot be decided yet", places)


async def held_among(connection: Connection, journey: str, member_ids: Collection[str]) -> frozenset[str]:
    """The members who are held, of these."""
    if not member_ids:
        return frozenset()
    return frozenset(row[0] for row in await connection.fetch(*_HELD(members=sorted(member_ids), journey=journey)))
