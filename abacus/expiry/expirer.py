"""The expirer: accounts of the expiry queue lose what lapsed, unless they were active again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.core.ids import expiry_claim, fingerprint
from abacus.expiry.envelope import Envelope, decode_envelope
from abacus.expiry.runs import FINISH
from abacus.ledger.batch import Claim
from abacus.ledger.rows import claimed, in_a_transaction, lock_accounts, write
from abacus.ledger.transfer import Account, AccountId, Transfer, lapse
from abacus.metrics import EXPIRED, EXPIRED_POINTS
from abacus.postgres import Connection, Pool, passing_failures
from abacus.quarantine.item import EXPIRY_QUEUE, Item, Stage
from abacus.quarantine.store import QuarantinePort
from abacus.queues.port import Received

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
        rows, accounts = await lock_accounts(connection, envelope.accounts)
        earlier = await claimed(connection, keys.values())
        lapsing = [account for id_, account in accounts.items() if keys[id_] not in earlier]
        now = self._clock.now()
        lapsed = lapse_all(lapsing, envelope, now)
        await write(connection, rows, lapsed.accounts, lapsed.claims, lapsed.transfers)
        skipped = len(envelope.accounts) - len(lapsed.transfers)
        await connection.execute(_DONE, *batch, now, len(lapsed.transfers), skipped, lapsed.points)
        return lapsed


def lapse_all(accounts: Sequence[Account], envelope: Envelope, now: datetime) -> Lapsed:
    """Pure: what to write for these accounts of the envelope, locked."""
    after: dict[AccountId, Account] = {}
    claims: list[Claim] = []
    transfers: list[Transfer] = []
    for account in accounts:
        changed = lapse(account, envelope.end, now)
        if changed is None:
            continue
        after[account.member_id, account.program], transfer = changed
        key = expiry_claim(str(envelope.month), account.member_id, account.program)
        facts = fingerprint((str(envelope.month), account.member_id, account.program))
        claims.append(Claim(key, account.member_id, account.program, transfer.seq, facts))
        transfers.append(transfer)
    return Lapsed(after, sorted(claims), transfers)


def _keys(envelope: Envelope) -> dict[AccountId, str]:
    return {
        (member, program): expiry_claim(str(envelope.month), member, program) for member, program in envelope.accounts
    }
