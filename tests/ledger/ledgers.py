"""Ledgers as the contract tests see them: tests post to them and look into them afterwards."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.core.sources import STREAM, source_of_key
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.decide.chain import chain
from abacus.ledger.store.allowances import awarded
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import ACCOUNT_COLUMNS, TRANSFER_COLUMNS
from abacus.ledger.types.account import NO_HASH, Account, AccountId
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.limits import Limits
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.types.port import AwardOutcome, Claim
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Pool
from abacus.platform.sqs.packer import pack
from tests.support.memory_ledger import MemoryLedger

NOW: Final = datetime(2026, 6, 1, 12, 30, 0, 123456, tzinfo=UTC)

_AWARD: Final = Award(
    "txn:rides:T-1",
    "bob",
    "GRP",
    "SG",
    TransferKind.EARN,
    180,
    datetime(2026, 5, 10, 12, 30, tzinfo=UTC),
    date(2026, 11, 30),
    True,  # noqa: FBT003  # a named tuple's fields have names
    "0123456789abcdef",
    b'{"amount": "15.00", "points":180}',
    STREAM,
)


def award(**changes: Any) -> Award:
    """An award whose source is the one that its key implies."""
    implied = source_of_key(changes.get("key", _AWARD.key))
    return _AWARD._replace(**{"source": implied or STREAM, **changes})


def envelope(*awards: Award) -> str:
    """The body of a message that carries these awards."""
    (body,) = pack("awards", map(encode_award, awards))
    return body


class Contents(NamedTuple):
    """Everything in a ledger: accounts and claims sorted, transfers in the order of their accounts and `seq`."""

    accounts: list[Account]
    transfers: list[Transfer]
    claims: list[Claim]


class OpenLedger(Protocol):
    """`LedgerPort`, `MovesPort`, and a look inside."""

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]: ...

    async def contents(self) -> Contents: ...

    async def move(self, movements: Sequence[Movement]) -> list[Moved]: ...

    async def allow(self, partner_id: str, limits: Limits) -> None: ...

    async def allowance(self, partner_id: str) -> Allowance: ...


class OpenMemoryLedger(MemoryLedger):
    """The ledger in memory."""

    async def allow(self, partner_id: str, limits: Limits) -> None:
        self.allowances[partner_id] = Allowance(limits, 0, date.min, 0)

    async def allowance(self, partner_id: str) -> Allowance:
        return self.allowances[partner_id]

    async def contents(self) -> Contents:
        return Contents(sorted(self.accounts.values()), sorted(self.transfers), sorted(self.claims.values()))


class OpenPostgresLedger(PostgresLedger):
    """The ledger on Postgres."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        super().__init__(pool, clock)
        self._looking = pool
        self._moves = PostgresMoves(pool, clock)

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        return await self._moves.move(movements)

    async def allow(self, partner_id: str, limits: Limits) -> None:
        await self._looking.execute(
            "insert into allowance (partner_id, per_award, per_member_day, per_day, in_total)"
            " values ($1, $2, $3, $4, $5)",
            partner_id,
            *limits,
        )

    async def allowance(self, partner_id: str) -> Allowance:
        return (await awarded(self._looking))[partner_id]

    async def contents(self) -> Contents:
        accounts = await self._looking.fetch(f"select {ACCOUNT_COLUMNS} from account")
        transfers = await self._looking.fetch(f"select {TRANSFER_COLUMNS} from transfer")
        claims = await self._looking.fetch("select key, member_id, program, seq, fingerprint from claim")
        return Contents(
            sorted(Account(*row) for row in accounts),
            sorted(Transfer(*row) for row in transfers),
            sorted(Claim(*row) for row in claims),
        )


def is_sound(contents: Contents) -> bool:
    """Check that each key is posted once, balances are sums, sequences have no gaps, and the hash chain holds."""
    followed: dict[AccountId, Account] = {}
    for transfer in contents.transfers:
        id_ = (transfer.member_id, transfer.program)
        before = followed.get(id_) or Account.opened(id_, transfer.country)
        assert transfer.seq == before.last_seq + 1
        assert transfer.balance_after == before.balance + transfer.points
        assert transfer.hash == chain(before.head_hash, transfer[:-1])
        followed[id_] = before._replace(
            balance=transfer.balance_after,
            earned_total=before.earned_total + transfer.points,
            expires_on=transfer.expires_on,
            active_until=transfer.expires_on,
            last_seq=transfer.seq,
            head_hash=transfer.hash,
        )
    for account in contents.accounts:
        expected = followed.get((account.member_id, account.program))
        # An account that took nothing may be there or not: no promise covers it.
        assert account._replace(country="") == (expected or account._replace(head_hash=NO_HASH))._replace(country="")
    claimed = [(claim.key, claim.member_id, claim.program, claim.seq) for claim in contents.claims]
    posted = sorted((each.key, each.member_id, each.program, each.seq) for each in contents.transfers)
    assert claimed == posted
    return True
