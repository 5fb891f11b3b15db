"""The first statement of a transaction that posts: it says in which generation, and in a slice at which place.

Nobody opens the next generation until the transaction has ended, and a key that was posted to an earlier one is seen by
every later statement. docs/adr/0155 has the argument.
"""

from typing import Final, NamedTuple

from abacus.platform.postgres import Connection
from abacus.platform.slices import take_turn

_TO_POST_IN: Final = "select generation_to_post_in()"

# A transaction that waited for its turn reads this in a statement of its own, which sees what was committed meanwhile.
_AT_PLACE: Final = """
select (select max(number) from generation) as generation,
    (select xid::text from transfer order by transfer.xid desc limit 1) as last
"""


class Turn(NamedTuple):
    """The generation that takes the rows of a transaction; and in a slice its place, by which its transfers are
    stamped.
    """

    generation: int
    place: int | None = None


async def begin_posting(connection: Connection) -> Turn:
    """Before any look at keys or accounts."""
    if connection.slice_schema is None:
        return Turn(await connection.fetchval(_TO_POST_IN))
    await take_turn(connection)
    generation, last = await connection.fetchrow(_AT_PLACE)
    return Turn(generation, int(last or 0) + 1)
