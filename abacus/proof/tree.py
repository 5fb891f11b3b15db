"""The tree of a seal, grown from the transfers that its snapshot saw. Making, verifying and proving all go through it.

An account's head then is its last transfer that the snapshot saw. That is found from the account's end, so the cost is
that of the accounts, and of what was posted since. Leaves pass by in order and none is kept.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from abacus.ledger.types.account import AccountId
from abacus.platform.postgres import Connection, pages
from abacus.proof.decide.merkle import Tree
from abacus.proof.decide.seal import Head, Sealed

_PLANS: Final = (
    "set local enable_sort = off; set local enable_mergejoin = on;"
    " set local max_parallel_workers_per_gather = 0; set local jit = off"
)

_HEADS: Final = """
select a.member_id, a.program, t.seq, t.balance_after, t.hash
from account a
cross join lateral (
    select seq, balance_after, hash from transfer t
    where t.member_id = a.member_id and t.program = a.program
        and pg_visible_in_snapshot(t.xid, $1::text::pg_snapshot)
    order by seq desc limit 1
) t
where not exists (
    select from sealed_leaf s where s.member_id = a.member_id and s.program = a.program and s.seal_number = $2
)
order by a.member_id, a.program
"""

# Of accounts that bear another name now: docs/adr/0017.
_KEPT: Final = "select position, leaf, transfers from sealed_leaf where seal_number = $1 order by position"


class Grown(NamedTuple):
    """What the seal holds; and, if an account was watched and is in it, its head and where it stands."""

    sealed: Sealed
    head: Head | None
    place: int
    path: Sequence[bytes]


# How many accounts are in the tree so far.
LeavesAdded = Callable[[int], None]


def quietly(_: int) -> None:
    """Nobody asks how far it is."""


async def grow(
    connection: Connection,
    snapshot: str,
    number: int,
    *,
    watched: AccountId | None = None,
    progress: LeavesAdded = quietly,
) -> Grown:
    """The tree of the seal with this number, which saw this snapshot. In a transaction."""
    await connection.execute(_PLANS)
    tree, transfers, found = Tree(), 0, None
    kept = _Kept(connection, number)
    await kept.advance()
    async for page in pages(connection, _HEADS, snapshot, number):
        for row in page:
            while kept.place == tree.size:
                tree.add(kept.leaf)
                await kept.advance()
            head = Head._make(row)
            is_watched = head[:2] == watched
            tree.add(head.leaf(), watch=is_watched)
            transfers += head.seq
            if is_watched:
                found = head
        progress(tree.size)
    while kept.place is not None:
        tree.add(kept.leaf)
        await kept.advance()
    sealed = Sealed(tree.size, transfers + kept.transfers, tree.root())
    return Grown(sealed, found, tree.watched or 0, tree.path)


class _Kept:
    """The leaves that were kept, one after the other."""

    def __init__(self, connection: Connection, number: int) -> None:
        self.place: int | None = None
        self.leaf = b""
        self.transfers = 0  # of all of them so far
        self._pages = pages(connection, _KEPT, number)
        self._page: list[Any] = []  # the next one last

    async def advance(self) -> None:
        if not self._page:
            page = await anext(self._pages, None)
            self._page = [] if page is None else list(reversed(page))
        self.place, self.leaf, transfers = self._page.pop() if self._page else (None, b"", 0)
        self.transfers += transfers
