"""The expirer: accounts of the expiry queue lose what lapsed, unless they were active again."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.core.ids import expiry_claim, fingerprint
from abacus.ledger.decide.account_with_lots import Purse
from abacus.ledger.decide.lapsing import lapse
from abacus.ledger.decide.lots import Draw
from abacus.ledger.store.history import purses_of
from abacus.ledger.store.rows import claimed, in_a_transaction, lock_accounts, write
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.posting import Claim
from abacus.ledger.types.transfer import Transfer
from abacus.platform.metrics import EXPIRED, EXPIRED_POINTS
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import EXPIRY_QUEUE, Item, Stage
from abacus.platform.sqs.port import Received
from abacus.programs.expiry.decide.envelope import Envelope, decode_envelope
from abacus.programs.expiry.runs import FINISH

# Whoever has this row expires the batch; a second delivery waits and then finds it done.
_TAKE: Final = """
select done_at is not null as is_done from expiry_batch where country = $1 and month = $2 and number = $3 for update
"""

_DONE: Final = """
update expiry_batch set done_at = $4, expired = $5, skipped = $6, points = $7, body = null
where country = $1 and month = $2 and number = $3
"""


class Lapsed(NamedTuple):
    """What an envelope comes to, sorted as it is to be written."""

    accounts: dict[AccountId, Account]
    claims: list[Claim]
    transfers: list[Transfer]
    draws: list[Draw]

    @property
    def points(self) -> int:
        return -sum(transfer.points for transfer in self.transfers)


class Expirer:
    """Handles messages of the expiry queue, each in one transaction that also counts it: delivered again, it changes
    nothing.
    """

    def __init__(self, pool: Pool, quarantine: QuarantinePort, clock: Clock) -> None:
        self._pool = pool
        self._quarantine = quarantine
        self._clock = clock

    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        bad: list[Item] = []
        for message in received:
            try:
                await self._expire(decode_envelope(message.body))
            except SetAside as fault:
                bad.append(Item.of(Stage.ENVELOPE, EXPIRY_QUEUE, message.body.encode(), fault))
        await self._quarantine.add(bad)
        return received

    async def _expire(self, envelope: Envelope) -> None:
        """Raises `Unavailable`, and `SetAside` for an envelope of a run that is not on record."""
        lapsed = await in_a_transaction(self._pool, lambda connection: self._post(connection, envelope))
        async with passing_failures():
            await self._pool.execute(FINISH, envelope.country, str(envelope.month), self._clock.now())
        if lapsed is not None:
            EXPIRED.labels("expired").inc(len(lapsed.transfers))
            EXPIRED.labels("skipped").inc(len(envelope.accounts) - len(lapsed.transfers))
            for transfer in lapsed.transfers:
                EXPIRED_POINTS.labels(transfer.program).inc(-transfer.points)

    async def _post(self, connection: Connection, envelope: Envelope) -> Lapsed | None:
        """Nothing when it is done already."""
        batch = (envelope.country, str(envelope.month), envelope.number)
        is_done = await connection.fetchval(_TAKE, *batch)
        if is_done is None:
            raise SetAside(Reason.INVALID, f"no record of batch {envelope.number} of {batch[0]} {batch[1]}")
        if is_done:
            return None
        keys = _keys(envelope)
        locked = await lock_accounts(connection, envelope.accounts)
        earlier = await claimed(connection, keys.values())
        lapsing = {id_: account for id_, account in locked.accounts.items() if keys[id_] not in earlier}
        now = self._clock.now()
        lapsed = lapse_all((await purses_of(connection, lapsing)).values(), envelope, now)
        await write(
            connection, locked, lapsed.accounts, lapsed.claims, lapsed.transfers, draws=lapsed.draws, whole=True
        )
        skipped = len(envelope.accounts) - len(lapsed.transfers)
        await connection.execute(_DONE, *batch, now, len(lapsed.transfers), skipped, lapsed.points)
        return lapsed


def lapse_all(purses: Iterable[Purse], envelope: Envelope, now: datetime) -> Lapsed:
    """Pure: what to write for these accounts of the envelope, locked."""
    lapsed = Lapsed({}, [], [], [])
    for purse in purses:
        change = lapse(purse, envelope.end, now)
        if change is None:
            continue
        id_ = (member_id, program) = purse.account.id
        lapsed.accounts[id_] = change.purse.account
        key = expiry_claim(str(envelope.month), member_id, program)
        facts = fingerprint((str(envelope.month), member_id, program))
        lapsed.claims.append(Claim(key, member_id, program, change.transfer.seq, facts))
        lapsed.transfers.append(change.transfer)
        lapsed.draws.extend(change.draws)
    lapsed.claims.sort()
    return lapsed


def _keys(envelope: Envelope) -> dict[AccountId, str]:
    return {
        (member, program): expiry_claim(str(envelope.month), member, program) for member, program in envelope.accounts
    }
