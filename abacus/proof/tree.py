"""The tree of a seal, grown from the transfers that its snapshot saw. Making, verifying and proving all go through it.

An account's head then is its last transfer that the snapshot saw. It is looked up from the account's end, so the cost
is that of the accounts, and of the transfers posted since. Leaves pass by in order and none is kept.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from abacus.ledger.types.account import AccountId
from abacus.platform.postgres import Connection, pages
from abacus.platform.sql import Statement, columns
from abacus.proof.decide.merkle import Tree
from abacus.proof.decide.seal import Head, Sealed
from abacus.proof.erased_leaves import ErasedLeaf
from abacus.proof.sight import Pager

_PLANS: Final = (
    "set local enable_sort = off; set local enable_mergejoin = on;"
    " set local max_parallel_workers_per_gather = 0; set local jit = off"
)

_HEADS: Final = Statement("""
select a.member_id, a.program, t.seq, t.balance_after as balance, t.hash as head_hash
from account a
cross join lateral (
    select seq, balance_after, hash from transfer t
    where t.member_id = a.member_id and t.program = a.program
        and pg_visible_in_snapshot(t.xid, :snapshot::text::pg_snapshot)
    order by seq desc limit 1
) t
where not exists (
    select from sealed_leaf s where s.member_id = a.member_id and s.program = a.program and s.seal_number = :number
)
order by a.member_id, a.program
""")

# The kept leaves of accounts that bear another name now: docs/adr/0017.
_ERASED: Final = Statement(f"""
select {columns(ErasedLeaf)} from sealed_leaf where seal_number = :number order by position
""")


class Grown(NamedTuple):
    """The seal's content; and, if an account was watched and is in it, its head and place."""

    sealed: Sealed
    head: Head | None
    place: int
    path: Sequence[bytes]


# How many accounts are in the tree so far.
LeavesAdded = Callable[[int], None]


def quietly(_: int) -> None:
    """Shows no progress."""


async def grow(
    connection: Connection,
    snapshot: str,
    number: int,
    format_: int,
    *,
    watched: AccountId | None = None,
    progress: LeavesAdded = quietly,
) -> Grown:
    """The tree of the seal with this number and format, which saw this snapshot. In a transaction."""
    await connection.execute(_PLANS)
    tree, transfers, watched_head = Tree(), 0, None
    erased = Pager(ErasedLeaf, connection, *_ERASED(number=number))
    next_erased = await erased.take()
    async for page in pages(connection, *_HEADS(snapshot=snapshot, number=number)):
        for row in page:
            while next_erased is not None and next_erased.position == tree.size:
                tree.add(next_erased.leaf)
                transfers += next_erased.transfers
                next_erased = await erased.take()
            head = Head._make(row)
            is_watched = head[:2] == watched
            tree.add(head.leaf(format_), watch=is_watched)
            transfers += head.seq
            if is_watched:
                watched_head = head
        progress(tree.size)
    while next_erased is not None:
        tree.add(next_erased.leaf)
        transfers += next_erased.transfers
        next_erased = await erased.take()
    return Grown(Sealed(tree.size, transfers, tree.root()), watched_head, tree.watched or 0, tree.path)
