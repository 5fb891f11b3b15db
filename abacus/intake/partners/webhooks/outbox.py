"""Messages to partners in Postgres: entered once, taken by one worker at a time, kept with their outcome.

Entering messages and disabling a webhook both lock the webhook's row: a message is either entered before, and given up
with the others, or not at all. Statements that write to several messages lock them in the order of their ids.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import structlog

from abacus.core.clock import Clock
from abacus.intake.partners.webhooks.decide.delivery import Delivery
from abacus.intake.partners.webhooks.decide.message import WebhookMessage
from abacus.intake.partners.webhooks.decide.schedule import RETRIED_FOR
from abacus.platform.delivery.types import LEASE, Backlog, DeliveryOutcome, Room, Settled
from abacus.platform.postgres import Connection, Pool, passing_failures, rows_changed
from abacus.platform.sql import Statement, arrays, columns, unnested

KEPT_FOR: Final = timedelta(days=30)  # longer than a topic keeps the event: read again, it makes no second message
_PRUNED_AT_ONCE: Final = 1000


class _Settlement(NamedTuple):
    """The stored outcome of one attempt. `taken_until` identifies the claim."""

    message_id: str
    taken_until: datetime
    outcome: DeliveryOutcome
    status: int | None
    retry_at: datetime | None
    reason: str | None


_ENTER: Final = Statement(f"""
insert into webhook_delivery (message_id, partner_id, type, body, created_at, due_at, retry_until)
select u.message_id, u.partner_id, u.type, u.body, :now, :now, :retry_until
from {unnested(WebhookMessage)}
join webhook w on w.partner_id = u.partner_id and w.disabled_at is null and w.created_at <= u.happened_at
order by u.message_id
for share of w
on conflict do nothing
""")

_OPEN: Final = "delivered_at is null and given_up_at is null"

# Of each partner the messages that are due longest, as many as it has room for.
_TAKE: Final = Statement(f"""
with due as materialized (
    select each.message_id, w.url, w.secret, case when w.former_secret_until > :now then w.former_secret end
        as former_secret
    from webhook w
    left join unnest(:busy_partners::text[], :busy_counts::int[]) as busy (partner_id, count)
        on busy.partner_id = w.partner_id
    cross join lateral (
        select message_id, due_at from webhook_delivery
        where partner_id = w.partner_id and {_OPEN}
            and due_at <= :now and (taken_until is null or taken_until <= :now)
        order by due_at
        limit greatest(0, :per_partner - coalesce(busy.count, 0))
        for update skip locked
    ) as each
    where w.disabled_at is null
    order by each.due_at
    limit :most
), taken as (
    update webhook_delivery d set taken_until = :taken_until, attempts = d.attempts + 1
    from due where d.message_id = due.message_id
    returning d.message_id, d.partner_id, d.type, d.body, d.attempts, d.retry_until, d.taken_until, due.url, due.secret,
        due.former_secret
)
select {columns(Delivery)} from taken
""")

# A failure counts unless another worker has taken the message by now. A message that was given up meanwhile stays so.
_SETTLE: Final = Statement(f"""
with settled as materialized (
    select * from {unnested(_Settlement)}
), locked as materialized (
    select message_id from webhook_delivery where message_id in (select message_id from settled)
    order by message_id for update
)
update webhook_delivery d set
    taken_until = null,
    delivered_at = case when s.outcome = 'delivered' then :now::timestamptz end,
    given_up_at = case when s.outcome = 'given_up' then coalesce(d.given_up_at, :now::timestamptz)
        when s.outcome = 'retried' then d.given_up_at end,
    due_at = coalesce(s.retry_at, d.due_at),
    last_status = s.status,
    last_error = s.reason
from settled s join locked using (message_id)
where d.message_id = s.message_id
    and (s.outcome = 'delivered' or (d.taken_until = s.taken_until and d.delivered_at is null))
""")

# Another address is not gone because the one before is.
_DISABLE: Final = Statement("""
update webhook set disabled_at = :now, disabled_why = :why
where partner_id = :partner_id and url = :url and disabled_at is null
""")

_GIVE_UP_ALL: Final = Statement(f"""
with locked as materialized (
    select message_id from webhook_delivery where partner_id = :partner_id and {_OPEN} order by message_id for update
)
update webhook_delivery d set given_up_at = :now, last_error = :why
from locked where d.message_id = locked.message_id and {_OPEN}
""")

_PRUNE: Final = Statement(f"""
delete from webhook_delivery where message_id in (
    select message_id from webhook_delivery where delivered_at < :before
    order by delivered_at limit {_PRUNED_AT_ONCE} for update skip locked)
""")

_WAITING: Final = Statement(f"select count(*), min(created_at) from webhook_delivery where {_OPEN}")

log = structlog.get_logger(__name__)


class Outbox:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, *, lease: timedelta = LEASE) -> None:
        self._pool = pool
        self._clock = clock
        self._lease = lease

    async def enter(self, messages: Sequence[WebhookMessage]) -> None:
        """Enters the messages whose partner had a webhook when they happened. Messages that were entered before stay as
        they are.
        """
        async with passing_failures(), self._pool.acquire() as connection:
            await enter(connection, messages, self._clock.now())

    async def take(self, room: Room) -> Sequence[Delivery]:
        """Takes from each partner as many messages as it has room for."""
        now = self._clock.now()
        statement = _TAKE(
            now=now,
            taken_until=now + self._lease,
            most=room.most,
            per_partner=room.per_receiver,
            busy_partners=list(room.busy),
            busy_counts=list(room.busy.values()),
        )
        async with passing_failures():
            rows = await self._pool.fetch(*statement)
        return [Delivery(*row) for row in rows]

    async def settle(self, settled: Sequence[Settled[Delivery]]) -> None:
        """Writes the outcome of attempts. A receiver that is gone disables its webhook."""
        gone = [each for each in settled if each.verdict.outcome is DeliveryOutcome.GONE]
        others = [each for each in settled if each.verdict.outcome is not DeliveryOutcome.GONE]
        if others:
            async with passing_failures(), self._pool.acquire() as connection:
                await _settle(connection, others, self._clock.now())
        for each in gone:
            if await self._disable(each):
                delivery = each.claim
                why = each.answer.detail
                log.warning("webhook disabled", partner=delivery.partner_id, url=delivery.url, why=why)

    async def _disable(self, gone: Settled[Delivery]) -> bool:
        """The receiver is gone: disables its webhook and gives up the waiting messages. If the webhook has another
        address by now, neither happens: then this message is due there.
        """
        now, delivery, why = self._clock.now(), gone.claim, gone.answer.detail
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            statement = _DISABLE(partner_id=delivery.partner_id, url=delivery.url, now=now, why=why)
            disabled = await rows_changed(connection, statement) > 0
            if disabled:
                await give_up_all(connection, delivery.partner_id, now, f"the webhook was disabled: {why}")
            outcome = DeliveryOutcome.GIVEN_UP if disabled else DeliveryOutcome.RETRIED
            await _settle(connection, [gone._replace(verdict=gone.verdict._replace(outcome=outcome))], now)
        return disabled

    async def prune(self) -> None:
        """Deletes some of the messages that were delivered long ago."""
        async with passing_failures():
            await self._pool.execute(*_PRUNE(before=self._clock.now() - KEPT_FOR))

    async def waiting(self) -> Backlog:
        async with passing_failures():
            row = await self._pool.fetchrow(*_WAITING())
        return Backlog(*row)


async def enter(connection: Connection, messages: Sequence[WebhookMessage], now: datetime) -> None:
    if messages:
        statement = _ENTER(**arrays(WebhookMessage, messages), now=now, retry_until=now + RETRIED_FOR)
        await connection.execute(*statement)


async def give_up_all(connection: Connection, partner_id: str, now: datetime, why: str) -> None:
    """The caller holds the lock on the webhook's row."""
    await connection.execute(*_GIVE_UP_ALL(partner_id=partner_id, now=now, why=why))


async def _settle(connection: Connection, settled: Sequence[Settled[Delivery]], now: datetime) -> None:
    settlements = [
        _Settlement(
            message_id=delivery.message_id,
            taken_until=delivery.taken_until,
            outcome=verdict.outcome,
            status=answer.status,
            retry_at=verdict.retry_at,
            reason=verdict.reason,
        )
        for delivery, answer, verdict in settled
    ]
    await connection.execute(*_SETTLE(**arrays(_Settlement, settlements), now=now))
