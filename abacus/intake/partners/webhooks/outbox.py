"""Messages to partners in Postgres: entered once, taken by one worker at a time, kept with their outcome. In a ledger
in slices each lies with its member.

Entering messages and disabling a webhook both lock the webhook's row: a message is either entered before, and given up
with the others, or not at all. Statements that write to several messages lock them in the order of their ids.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

import structlog

from abacus.core.clock import Clock
from abacus.intake.partners.webhooks.decide.delivery import RETRIED_FOR, Delivery, SignedAddress
from abacus.intake.partners.webhooks.decide.message import WebhookMessage
from abacus.platform import slices
from abacus.platform.delivery.outbox import Lane, Outbox, OutboxTable, Taken
from abacus.platform.delivery.types import Backlog, DeliveryOutcome, Room, Settled
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.postgres import Connection, Pool, passing_failures, rows_changed
from abacus.platform.sql import Statement, arrays, unnested

KEPT_FOR: Final = timedelta(days=30)  # longer than a topic keeps the event: read again, it makes no second message
_PRUNED_AT_ONCE: Final = 1000


class _Key(NamedTuple):
    message_id: str


_ROW: Final = ("message_id", "partner_id", "member_id", "type", "body", "retry_until")

# A message that is being sent may be made due again: it is sent once more after that.
TABLE: Final = OutboxTable(
    "webhook_delivery",
    key=_Key,
    row=_ROW,
    lane="partner_id",
    delivered_at="delivered_at",
    given_up_at="given_up_at",
    reason="last_error",
    lease="taken_until",
    settles=", last_status = s.status",
)

# Webhooks that hear of what happens now; they stay as they are until the transaction ends.
_HEARING: Final = Statement("""
select partner_id, created_at from webhook where partner_id = any(:partners::text[]) and disabled_at is null
order by partner_id for share
""")
_ENTER: Final = Statement(f"""
insert into webhook_delivery (message_id, partner_id, member_id, type, body, created_at, due_at, retry_until)
select u.message_id, u.partner_id, u.member_id, u.type, u.body, :now, :now, :retry_until
from {unnested(WebhookMessage)} order by u.message_id
on conflict do nothing
""")

_RECEIVERS: Final = Statement("""
select partner_id, url, secret, case when former_secret_until > :now then former_secret end as former_secret
from webhook where disabled_at is null
""")

# Another address is not gone because the one before is.
_DISABLE: Final = Statement("""
update webhook set disabled_at = :now, disabled_why = :why
where partner_id = :partner_id and url = :url and disabled_at is null
""")

_GIVE_UP_ALL: Final = Statement(f"""
with locked as materialized (
    select message_id from webhook_delivery
    where partner_id = :partner_id and {TABLE.is_open} order by message_id for update
)
update webhook_delivery d set given_up_at = :now, last_error = :why
from locked where d.message_id = locked.message_id and {TABLE.is_open}
""")

_PRUNE: Final = Statement(f"""
delete from webhook_delivery where message_id in (
    select message_id from webhook_delivery where delivered_at < :before
    order by delivered_at limit {_PRUNED_AT_ONCE} for update skip locked)
""")

log = structlog.get_logger(__name__)


class WebhookOutbox:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._outbox: Outbox[Delivery] = Outbox(TABLE, pool, clock)
        self._pool = pool
        self._clock = clock

    async def enter(self, messages: Sequence[WebhookMessage], passed_over: PassedOver | None = None) -> None:
        """Enters the messages whose partner had a webhook when they happened. Messages that were entered before stay as
        they are. Messages of slices that are `passed_over` are left out.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await enter(self._pool, connection, messages, self._clock.now(), passed_over)

    async def take(self, room: Room) -> Sequence[Delivery]:
        """Takes from each partner as many messages as it has room for."""
        async with passing_failures():
            rows = await self._pool.fetch(*_RECEIVERS(now=self._clock.now()))
        webhooks = {partner_id: SignedAddress(*webhook) for partner_id, *webhook in rows}
        claim = partial(_delivery, webhooks)
        return await self._outbox.take(room, [Lane(partner_id, partner_id) for partner_id in webhooks], claim)

    async def settle(self, settled: Sequence[Settled[Delivery]]) -> None:
        """Writes the outcome of attempts. A receiver that is gone disables its webhook, once all slices can be told."""
        gone = [each for each in settled if each.verdict.outcome is DeliveryOutcome.GONE]
        await self._outbox.settle([each for each in settled if each.verdict.outcome is not DeliveryOutcome.GONE])
        for each in gone:
            if await slices.unless_away(self._pool, self._disable(each)):
                delivery = each.claim
                why = each.answer.detail
                log.warning("webhook disabled", partner=delivery.partner_id, url=delivery.webhook.url, why=why)

    async def _disable(self, gone: Settled[Delivery]) -> bool:
        """The receiver is gone: disables its webhook and gives up the waiting messages. If the webhook has another
        address by now, neither happens: then this message is due there.
        """
        now, delivery, why = self._clock.now(), gone.claim, gone.answer.detail
        async with slices.together(self._pool) as connection:
            statement = _DISABLE(partner_id=delivery.partner_id, url=delivery.webhook.url, now=now, why=why)
            disabled = await rows_changed(connection, statement) > 0
            if disabled:
                await give_up_all(connection, delivery.partner_id, now, f"the webhook was disabled: {why}")
        outcome = DeliveryOutcome.GIVEN_UP if disabled else DeliveryOutcome.RETRIED
        await self._outbox.settle([gone._replace(verdict=gone.verdict._replace(outcome=outcome))])
        return disabled

    async def prune(self) -> None:
        """Deletes some of the messages that were delivered long ago."""
        statement = _PRUNE(before=self._clock.now() - KEPT_FOR)
        await slices.everywhere(self._pool, lambda each: _executed_in(each, statement))

    async def waiting(self) -> Backlog:
        """Without slices whose servers cannot be reached."""
        backlogs = (await self._outbox.backlogs()).values()
        oldest = [each.oldest for each in backlogs if each.oldest is not None]
        return Backlog(sum(each.deliveries for each in backlogs), min(oldest, default=None))


async def enter(
    pool: Pool,
    connection: Connection,
    messages: Sequence[WebhookMessage],
    now: datetime,
    passed_over: PassedOver | None = None,
) -> None:
    """In a transaction of the connection, which holds the webhooks until all are entered."""
    if not messages:
        return
    rows = await connection.fetch(*_HEARING(partners=sorted({message.partner_id for message in messages})))
    since = dict(map(tuple, rows))
    heard = [each for each in messages if each.partner_id in since and since[each.partner_id] <= each.happened_at]

    async def enter_in(slice_: slices.Slice, part: Sequence[WebhookMessage]) -> None:
        entering = _ENTER(**arrays(WebhookMessage, part), now=now, retry_until=now + RETRIED_FOR)
        await _executed_in(slice_, entering)

    if passed_over is None:
        (await slices.split(pool, heard, enter_in, patience_s=None)).whole()
    else:
        await passed_over.split(heard, enter_in)


async def _executed_in(slice_: slices.Slice, statement: tuple[Any, ...]) -> None:
    async with slice_.at() as near:
        await near.execute(*statement)


async def give_up_all(connection: Connection, partner_id: str, now: datetime, why: str) -> None:
    """The caller holds the lock on the webhook's row, on a connection to all slices."""
    statement = _GIVE_UP_ALL(partner_id=partner_id, now=now, why=why)
    await slices.each(connection, lambda: connection.execute(*statement))


def _delivery(webhooks: Mapping[str, SignedAddress], taken: Taken) -> Delivery:
    return Delivery._make((*taken.row, taken.attempts, taken.lease, webhooks[taken.lane]))
