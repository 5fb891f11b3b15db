"""The expirer: accounts of the expiry queue lose their lapsed points, unless they were active again."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from abacus.core.clock import Clock
from abacus.core.errors import Reason, SetAside
from abacus.ledger.store.claimed_keys import ClaimedKeys
from abacus.ledger.store.history import with_lots
from abacus.ledger.store.rows import in_a_transaction, lock_accounts, write
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.account import AccountId
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import EXPIRY_QUEUE, Item, Stage
from abacus.platform.slices import slice_map_of, slice_of
from abacus.platform.sql import Statement
from abacus.platform.sqs.port import Received
from abacus.programs.expiry.decide.batch import Lapsed, claim_of, lapse_all
from abacus.programs.expiry.decide.envelope import Envelope, decode_envelope
from abacus.programs.expiry.metrics import EXPIRED, EXPIRED_POINTS
from abacus.programs.expiry.runs import FINISH

# The delivery that locks this row expires the batch; a second one waits, and then sees that the batch is done.
_TAKE: Final = Statement("""
select done_at is not null as is_done, body from expiry_batch
where country = :country and month = :month and number = :number for update
""")

_DONE: Final = Statement("""
update expiry_batch set done_at = :now, expired = :expired, skipped = :skipped, points = :points, body = null
where country = :country and month = :month and number = :number
""")


class Expirer:
    """Handles messages of the expiry queue, each in one transaction that also counts it: delivered again, it changes
    nothing. A message only names a batch: the record has the accounts and the day, whatever the message says.
    """

    def __init__(self, pool: Pool, quarantine: QuarantinePort, clock: Clock) -> None:
        self._pool = pool
        self._quarantine = quarantine
        self._clock = clock
        self._claimed = ClaimedKeys()

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
        ours = await slice_of(self._pool, envelope.accounts[0][0])
        slices = await slice_map_of(self._pool)
        post = partial(self._post, named=envelope, is_ours=lambda account: slices.slice_of(account[0]) == ours.number)
        posted = await in_a_transaction(ours.across, post)
        async with passing_failures():
            await self._pool.execute(
                *FINISH(country=envelope.country, month=str(envelope.month), now=self._clock.now())
            )
        if posted is not None:
            batch, lapsed = posted
            EXPIRED.labels("expired").inc(len(lapsed.transfers))
            EXPIRED.labels("skipped").inc(len(batch.accounts) - len(lapsed.transfers))
            for program, points in lapsed.points_by_program().items():
                EXPIRED_POINTS.labels(program).inc(points)

    async def _post(
        self, connection: Connection, named: Envelope, is_ours: Callable[[AccountId], bool]
    ) -> tuple[Envelope, Lapsed] | None:
        """The batch on record and the lapses in it; None when the batch is done already."""
        country, month, number = named.country, str(named.month), named.number
        row = await connection.fetchrow(*_TAKE(country=country, month=month, number=number))
        if row is None:
            raise SetAside(Reason.INVALID, f"no record of batch {number} of {country} {month}")
        if row["is_done"]:
            return None
        envelope = decode_envelope(row["body"])
        if not all(map(is_ours, envelope.accounts)):
            raise SetAside(Reason.INVALID, f"batch {number} of {country} {month} is of another slice than its message")
        turn = await begin_posting(connection)
        locked = await lock_accounts(connection, turn, envelope.accounts)
        keys = (claim_of(envelope, id_) for id_ in envelope.accounts)
        earlier = await self._claimed.among(connection, turn, keys)
        accounts = await with_lots(connection, locked.accounts)
        now = self._clock.now()
        lapsed = lapse_all(accounts.values(), earlier, envelope, now)
        await write(
            connection, locked, lapsed.accounts, lapsed.claims, lapsed.transfers, draws=lapsed.draws, whole=True
        )
        await connection.execute(
            *_DONE(
                country=country,
                month=month,
                number=number,
                now=now,
                expired=len(lapsed.transfers),
                skipped=len(envelope.accounts) - len(lapsed.transfers),
                points=lapsed.points,
            )
        )
        return envelope, lapsed
