"""Keeping the leaves that old seals have of a member whose name is about to go, so that their roots stay computable."""

from typing import Final, NamedTuple

from abacus.platform.postgres import Connection
from abacus.platform.slices import slice_map_on
from abacus.platform.sql import Statement, columns, parameters
from abacus.proof.decide.seal import Head, Seal

_TIMEOUT_S: Final = 3600.0  # it counts the accounts before the member's once for each seal


class ErasedLeaf(NamedTuple):
    """A row of `sealed_leaf`: the leaf that a seal has of an account that bears another name now."""

    member_id: str
    program: str
    seal_number: int
    position: int
    leaf: bytes
    transfers: int


class _SealedHead(NamedTuple):
    """An account as a seal saw it, and how many accounts that still bear their names stand before."""

    seal_number: int
    format: int
    member_id: str
    program: str
    seq: int
    balance: int
    head_hash: bytes
    before: int

    @property
    def head(self) -> Head:
        return Head(self.member_id, self.program, self.seq, self.balance, self.head_hash)


_SEALS: Final = Statement(f"select {columns(Seal)} from seal order by number")

# Places are counted in the tree of the slice, which is the whole seal's where the ledger is not cut.
_HEADS: Final = Statement("""
select s.number as seal_number, s.format, a.member_id, a.program,
    t.seq, t.balance_after as balance, t.hash as head_hash, (
    select count(*) from account b
    join transfer f on f.member_id = b.member_id and f.program = b.program and f.seq = 1
    where (b.member_id, b.program) < (a.member_id, a.program)
        and pg_visible_in_snapshot(f.xid, s.snapshot::pg_snapshot)
        and not exists (
            select from sealed_leaf k
            where k.member_id = b.member_id and k.program = b.program and k.seal_number = s.number
        )
) as before
from account a
cross join unnest(:numbers::bigint[], :formats::smallint[], :snapshots::text[]) as s (number, format, snapshot)
cross join lateral (
    select seq, balance_after, hash from transfer t
    where t.member_id = a.member_id and t.program = a.program
        and pg_visible_in_snapshot(t.xid, s.snapshot::pg_snapshot)
    order by seq desc limit 1
) t
where a.member_id = :member_id
order by s.number, a.program
""")

_POSITIONS: Final = Statement("select seal_number, position from sealed_leaf order by seal_number, position")
_KEEP: Final = Statement(f"insert into sealed_leaf ({columns(ErasedLeaf)}) values ({parameters(ErasedLeaf)})")


async def keep_leaves(connection: Connection, member_id: str, pseudonym: str) -> int:
    """Keep the member's leaves under the new name; returns how many. In the transaction that changes the name, on the
    tables of the member's slice.
    """
    slice_map = await slice_map_on(connection)
    number = slice_map.slice_of(member_id)
    seals = [Seal(*row) for row in await connection.fetch(*_SEALS())]
    heads = _HEADS(
        member_id=member_id,
        numbers=[each.number for each in seals],
        formats=[each.format for each in seals],
        snapshots=[each.snapshots[number] for each in seals],
    )
    kept: dict[int, list[int]] = {}
    for number, position in await connection.fetch(*_POSITIONS()):
        kept.setdefault(number, []).append(position)
    leaves: list[dict[str, object]] = []
    for row in map(_SealedHead._make, await connection.fetch(*heads, timeout=_TIMEOUT_S)):
        position = place_among(kept.get(row.seal_number, []), row.before)
        leaf = ErasedLeaf(pseudonym, row.program, row.seal_number, position, row.head.leaf(row.format), row.seq)
        leaves.append(leaf._asdict())
    await connection.executemany(*_KEEP.rows(leaves))
    return len(leaves)


def place_among(kept: list[int], before: int) -> int:
    """The place of a leaf that follows `before` others; the kept leaves have these places, in order."""
    place = before
    for each in kept:
        if each > place:
            break
        place += 1
    return place
