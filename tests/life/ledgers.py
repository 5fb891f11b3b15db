"""The ledgers that a life of points is lived on: both do the same, one of them without a database."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.core.ids import expiry_claim
from abacus.ledger.decide.account_with_lots import Change
from abacus.ledger.decide.lapse import MonthEnd, lapse
from abacus.ledger.decide.lots import open_lots
from abacus.ledger.decide.opening_balance import OpeningBalance, Origin, facts_of
from abacus.ledger.store.history import with_lots
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import ACCOUNT_COLUMNS, TRANSFER_COLUMNS, LedgerReader
from abacus.ledger.store.rows import in_a_transaction, lock_accounts, write
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.account import NO_HASH, Account, AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.types.port import AwardOutcome, Claim
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.erasure.decide.pseudonym import PSEUDONYM, Pseudonym, rechained
from abacus.oversight.erasure.erase import Eraser
from abacus.platform.postgres import Connection, Pool
from abacus.platform.slices import slice_of
from abacus.programs.opening.decide.batch import Staged, open_all
from tests.support.memory_ledger import MemoryLedger

MOST: Final = 1000
ORIGIN: Final = Origin("oldsystem", "alice")


class Left(NamedTuple):
    """The points that remain of a lot."""

    key: str
    left: int


class Living(Protocol):
    """A ledger on which points are earned, spent and lost, and a look inside."""

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]: ...

    async def move(self, movements: Sequence[Movement]) -> list[Moved]: ...

    async def lapse(self, id_: AccountId, end: MonthEnd) -> None: ...

    async def bring(self, opening: OpeningBalance) -> None: ...

    async def erase(self, id_: AccountId) -> AccountId:
        """Erase the member; the id that the account has from then on."""
        ...

    async def account(self, id_: AccountId) -> Account | None: ...

    async def open_lots(self, id_: AccountId) -> list[Left]: ...

    async def history(self, id_: AccountId) -> list[Transfer]: ...


class LivingInMemory(MemoryLedger):
    """The ledger in memory."""

    async def lapse(self, id_: AccountId, end: MonthEnd) -> None:
        account = self.accounts.get(id_)
        change = lapse(self.with_lots(account), end, self._clock.now()) if account is not None else None
        claim = _claim(id_, end, change)
        if change is not None and claim.key not in self.claims:
            self.keep(claim, change)

    async def bring(self, opening: OpeningBalance) -> None:
        staged = Staged(1, ORIGIN.key(opening), opening)
        openings = open_all([(staged, facts_of(opening))], self.accounts, ORIGIN, self._clock.now())
        self.claims |= {claim.key: claim for claim in openings.claims}
        self.accounts |= openings.accounts
        self.transfers += openings.transfers

    async def erase(self, id_: AccountId) -> AccountId:
        renaming = Pseudonym(id_[0], f"{PSEUDONYM}{id_[0]}")
        name = (renaming.pseudonym, id_[1])
        renamed = iter(rechained([each for each in self.transfers if each[:2] == id_], renaming, NO_HASH))
        self.transfers = [next(renamed) if each[:2] == id_ else each for each in self.transfers]
        self.draws = [each._replace(member_id=name[0]) if each[:2] == id_ else each for each in self.draws]
        for hold_id, hold in self.holds.items():
            self.holds[hold_id] = hold._replace(member_id=name[0]) if hold.member_id == id_[0] else hold
        for key, claim in list(self.claims.items()):
            if (claim.member_id, claim.program) == id_:
                del self.claims[key]
                after = renaming.key(key)
                self.claims[after] = claim._replace(key=after, member_id=name[0])
        if id_ in self.accounts:
            head = (await self.history(name))[-1].hash
            self.accounts[name] = self.accounts.pop(id_)._replace(member_id=name[0], head_hash=head)
        return name

    async def account(self, id_: AccountId) -> Account | None:
        return self.accounts.get(id_)

    async def open_lots(self, id_: AccountId) -> list[Left]:
        account = self.accounts.get(id_)
        lots = open_lots(account, self.lots(account)) if account is not None else []
        return [Left(each.lot.key, each.left) for each in lots]

    async def history(self, id_: AccountId) -> list[Transfer]:
        return [transfer for transfer in self.transfers if transfer[:2] == id_]


class LivingOnPostgres:
    """The ledger on Postgres, in the parts that the house is made of; only the tables' owner may erase."""

    def __init__(self, pool: Pool, clock: Clock, owner: Pool | None = None) -> None:
        self._pool = pool
        self._owner = owner or pool
        self._clock = clock
        self._ledger = PostgresLedger(pool, clock)
        self._moves = PostgresMoves(pool, clock)

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        return await self._ledger.post(awards)

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        return await self._moves.move(movements)

    async def lapse(self, id_: AccountId, end: MonthEnd) -> None:
        async def work(connection: Connection) -> None:
            locked = await lock_accounts(connection, await begin_posting(connection), [id_])
            accounts = await with_lots(connection, locked.accounts)
            change = lapse(accounts[id_], end, self._clock.now()) if accounts else None
            claim = _claim(id_, end, change)
            if change is None or await connection.fetchval("select true from claim where key = $1", claim.key):
                return
            after = {id_: change.after.account}
            await write(connection, locked, after, [claim], [change.transfer], draws=change.draws, whole=True)

        await in_a_transaction((await slice_of(self._pool, id_[0])).across, work)

    async def bring(self, opening: OpeningBalance) -> None:
        staged = Staged(1, ORIGIN.key(opening), opening)

        async def work(connection: Connection) -> None:
            locked = await lock_accounts(connection, await begin_posting(connection), [staged.account])
            openings = open_all([(staged, facts_of(opening))], locked.accounts, ORIGIN, self._clock.now())
            await write(connection, locked, openings.accounts, openings.claims, openings.transfers, whole=True)

        await in_a_transaction((await slice_of(self._pool, opening.member_id)).across, work)

    async def erase(self, id_: AccountId) -> AccountId:
        eraser = Eraser(self._owner, self._clock, lambda _: None)
        erased = await eraser.erase(id_[0], by="ann", reason="asked to")
        return (erased.pseudonym, id_[1])

    async def account(self, id_: AccountId) -> Account | None:
        row = await self._pool.fetchrow(
            f"select {ACCOUNT_COLUMNS} from account where member_id = $1 and program = $2", *id_
        )
        return Account(*row) if row else None

    async def open_lots(self, id_: AccountId) -> list[Left]:
        return [Left(each.key, each.remaining) for each in await LedgerReader(self._pool).lots(*id_, 0, MOST)]

    async def history(self, id_: AccountId) -> list[Transfer]:
        rows = await self._pool.fetch(
            f"select {TRANSFER_COLUMNS} from transfer where member_id = $1 and program = $2 order by seq", *id_
        )
        return [Transfer(*row) for row in rows]


def _claim(id_: AccountId, end: MonthEnd, change: Change | None) -> Claim:
    return Claim(
        expiry_claim(end.key.removeprefix("expiry:"), *id_),
        *id_,
        change.transfer.seq if change is not None else 0,
        end.key,
    )
