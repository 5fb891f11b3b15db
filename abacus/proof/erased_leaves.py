"""Keeping what old seals hold of a member whose name is about to go, so that their roots can be computed for ever."""

from typing import Final

from abacus.platform.postgres import Connection
from abacus.proof.decide.seal import Head

_TIMEOUT_S: Final = 3600.0  # it counts the accounts before the member's once for each seal

# The member's accounts as each seal saw them, and how many accounts that still bear their names stand before.
_HEADS: Final = """
select s.number, a.member_id, a.program, t.seq, t.balance_after, t.hash, (
    select count(*) from account b join transfer f on f.member_id = b.member_id and f.program = b.program and f.seq = 1
    where (b.member_id, b.program) < (a.member_id, a.program)
        and pg_visible_in_snapshot(f.xid, s.snapshot::pg_snapshot)
        and not exists (
            select from sealed_leaf k
            where k.member_id = b.member_id and k.program = b.program and k.seal_number = s.number
        )
)
from account a cross join seal s
cross join lateral (
    select seq, balance_after, hash from transfer t
    where t.member_id = a.member_id and t.program = a.program
        and pg_visible_in_snapshot(t.xid, s.snapshot::pg_snapshot)
    order by seq desc limit 1
) t
where a.member_id = $1
order by s.number, a.program
"""

_KEPT: Final = "select seal_number, position from sealed_leaf order by seal_number, position"
_KEEP: Final = """
insert into sealed_leaf (member_id, program, seal_number, position, leaf, transfers) values ($1, $2, $3, $4, $5, $6)
"""


async def keep_leaves(connection: Connection, member_id: str, pseudonym: str) -> int:
    """How many leaves were kept, under the name that the member gets. In the transaction that changes the name."""
    kept: dict[int, list[int]] = {}
    for number, position in await connection.fetch(_KEPT):
        kept.setdefault(number, []).append(position)
    leaves: list[tuple[str, str, int, int, bytes, int]] = []
    for number, *head, before in await connection.fetch(_HEADS, member_id, timeout=_TIMEOUT_S):
        found = Head._make(head)
        place = place_among(kept.get(number, []), before)
        leaves.append((pseudonym, found.program, number, place, found.leaf(), found.seq))
    await connection.executemany(_KEEP, leaves)
    return len(leaves)


def place_among(kept: list[int], before: int) -> int:
    """The place of a leaf that follows so many others, beside those at the places that are kept, in order."""
    place = before
    for each in kept:
        if each > place:
            break
        place += 1
    return place
