"""Moving points in Postgres: a round of movements, or its part of a slice, is one transaction, with the locks of
posting; rows of other rooms may be written in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol
from uuid import UUID

from abacus.core.clock import Clock
from abacus.ledger.decide.allowance import NOBODY
from abacus.ledger.decide.movement import NONE_REFUSED, Books, Moves, account_of, plan_moves, rounds
from abacus.ledger.decide.partner_spending import partner_counted, partners_counted
from abacus.ledger.decide.reversal import Original
from abacus.ledger.store.alone import lock_moved_alone, write_moved_alone
from abacus.ledger.store.budgets import Budgets, Whole
from abacus.ledger.store.claimed_keys import ClaimedKeys
from abacus.ledger.store.deeds import are_noted, note_deeds
from abacus.ledger.store.history import original_of, with_cursor_moved, with_lots
from abacus.ledger.store.holds import read_hold
from abacus.ledger.store.newcomers import refused_newcomers
from abacus.ledger.store.partner_limits import lock_standing, write_use
from abacus.ledger.store.rows import in_a_transaction, lock_accounts, write
from abacus.ledger.store.slices import SliceRounds
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.movement import Capture, Declined, Hold, Moved, Movement, Release, Reversal
from abacus.ledger.types.port import Claim, Status
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import Slice
from abacus.platform.sql import Statement, columns, parameters

_HOLDS: Final = Statement(
    f"select {columns(Hold)} from hold where member_id = any(:members::text[]) and hold_id = any(:ids::uuid[])"
)

# A hold is changed only under its account's lock.
_KEEP_HOLD: Final = Statement(f"""
insert into hold ({columns(Hold)}) values ({parameters(Hold)})
on conflict (member_id, hold_id) do update set status = excluded.status, settled_seq = excluded.settled_seq
""")


class Beside(Protocol):
    """Rows that are not cut, written in the transaction of movements. What is overtaken is done again, in another
    transaction; in a ledger that is cut, the movements of each slice have a transaction of their own.
    """

    async def admit(self, connection: Connection, movements: Sequence[Movement]) -> Mapping[str, Declined]:
        """Lock the rows, before anything of the ledger is locked. Returns the faults of new movements that are refused,
        by their keys.
        """
        ...

    async def write(self, connection: Connection, moved: Sequence[Moved]) -> None:
        """Write the rows; they are committed with the movements, and also where each movement was refused."""
        ...


class PostgresMoves:
    """`MovesPort` on Postgres."""

    def __init__(self, pool: Pool, clock: Clock, claimed: ClaimedKeys | None = None) -> None:
        self._pool = pool
        self._clock = clock
        self._claimed = claimed or ClaimedKeys()
        self._budgets = Budgets(pool, clock, partner_counted, _waits)
        self._rounds = SliceRounds(pool, _keys_of, self._move_in, _waits)

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        return await self._rounds.do(movements)

    async def move_beside(self, movements: Sequence[Movement], beside: Beside) -> list[Moved]:
        """As `move`, with the rows of the caller: all of a transaction is there, or nothing. Callers do not share
        transactions: each locks its rows in an order of its own.
        """
        move_in = partial(self._move_in, beside=beside)
        return await SliceRounds(self._pool, _keys_of, move_in, _waits).do(movements)

    async def _move_in(
        self,
        slice_: Slice,
        movements: Sequence[Movement],
        elsewhere: Mapping[str, Claim],
        beside: Beside | None = None,
    ) -> list[Moved]:
        fates: dict[int, Moved] = {}

        async def work(together: Sequence[Movement], whole: Whole) -> list[Moved]:
            move = partial(self._move, movements=together, elsewhere=elsewhere, whole=whole, beside=beside)
            alone = slice_.across if are_noted(together) else slice_.within  # the log is not cut
            return (await in_a_transaction(slice_.together if whole or beside else alone, move)).outcomes

        for places in rounds(movements):
            moved = await self._budgets.within(slice_, [movements[place] for place in places], work)
            fates.update(zip(places, moved, strict=True))
        return [fates[place] for place in range(len(movements))]

    async def _move(
        self,
        connection: Connection,
        movements: Sequence[Movement],
        elsewhere: Mapping[str, Claim],
        whole: Whole,
        beside: Beside | None,
    ) -> Moves:
        refused = await beside.admit(connection, movements) if beside else NONE_REFUSED
        moved_alone = await lock_moved_alone(connection, movements, self._clock.now())
        partners = partners_counted(movements)
        standing = await lock_standing(connection, partners, whole, self._clock.now()) if partners else NOBODY
        turn = await begin_posting(connection)
        locked = await lock_accounts(connection, turn, sorted(set(map(account_of, movements))))
        earlier = await self._claimed.among(connection, turn, {movement.key for movement in movements})
        earlier |= elsewhere
        new = [movement for movement in movements if movement.key not in earlier]
        books = await _books(connection, new, locked.accounts)
        now = self._clock.now()
        decided = plan_moves(movements, earlier, books, now, standing, moved_alone=moved_alone, refused=refused)
        decided.spending.in_hand()
        await write(
            connection, locked, decided.accounts, decided.claims, decided.transfers, draws=decided.draws, whole=True
        )
        if partners:
            await write_use(connection, standing, decided.spending)
        await write_moved_alone(connection, decided.alone)
        if decided.holds:
            await connection.executemany(*_KEEP_HOLD.rows([hold._asdict() for hold in decided.holds]))
        await note_deeds(connection, decided.outcomes)
        if beside:
            await beside.write(connection, decided.outcomes)
        return decided


def _keys_of(movement: Movement) -> Iterable[str]:
    return (movement.key,)


def _waits(movement: Movement) -> Moved:
    return Moved(movement, Status.WAITS)


async def _books(connection: Connection, new: Sequence[Movement], accounts: dict[AccountId, Account]) -> Books:
    touched = {
        account_of(each): accounts.get(account_of(each)) or Account.opened(account_of(each), each.country)
        for each in new
    }
    originals: dict[str, Original] = {}
    for each in new:
        if isinstance(each, Reversal):
            id_ = account_of(each)
            touched[id_] = await with_cursor_moved(connection, touched[id_])
            original = await original_of(connection, touched[id_], each)
            if original is not None:
                originals[each.reverses] = original
    refused = await refused_newcomers(connection, touched, accounts)
    return Books(await with_lots(connection, touched), await _holds(connection, new), originals, refused)


async def _holds(connection: Connection, new: Sequence[Movement]) -> dict[UUID, Hold]:
    settled = [each for each in new if isinstance(each, Capture | Release)]
    if not settled:
        return {}
    rows = await connection.fetch(
        *_HOLDS(members=[each.member_id for each in settled], ids=[each.hold_id for each in settled])
    )
    return {row["hold_id"]: read_hold(row) for row in rows}
