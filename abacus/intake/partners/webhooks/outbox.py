"""Messages to partners in Postgres: entered once, taken by one worker at a time, kept with what became of them.

Whoever enters messages holds the webhook's row, and so does whoever disables it: a message is either entered before,
and given up with the others, or not at all.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.intake.partners.webhooks.decide.message import Message, MessageType
from abacus.intake.partners.webhooks.decide.schedule import RETRIED_FOR, Answer, Outcome, Verdict
from abacus.intake.partners.webhooks.delivery import Delivery, Waiting
from abacus.platform.postgres import Connection, Pool, passing_failures

KEPT_FOR: Final = timedelta(days=30)  # longer than a topic keeps the event: read again, it makes no second message
_PRUNED_AT_ONCE: Final = 1000

LEASE: Final = timedelta(seconds=60)  # longer than any try takes

_ENTER: Final = """
insert into webhook_delivery (message_id, partner_id, type, body, created_at, due_at, retry_until)
select u.message_id, u.partner_id, u.type, u.body, $6, $6, $7
from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])
    as u (message_id, partner_id, type, body, happened_at)
join webhook w on w.partner_id = u.partner_id and w.disabled_at is null and w.created_at <= u.happened_at
order by u.message_id
for share of w
on conflict do nothing
"""

_OPEN: Final = "delivered_at is null and given_up_at is null"

# From each partner what is due longest, as much as it has room for; $5 and $6 say what is under way to whom.
_TAKE: Final = f"""
with due as materialized (
    select each.message_id, w.url, w.secret, case when w.former_secret_until > $1 then w.former_secret end as former
    from webhook w
    left join unnest($5::text[], $6::int[]) as busy (partner_id, count) on busy.partner_id = w.partner_id
    cross join lateral (
        select message_id, due_at from webhook_delivery
        where partner_id = w.partner_id and {_OPEN}
            and due_at <= $1 and (taken_until is null or taken_until <= $1)
        order by due_at
        limit greatest(0, $4 - coalesce(busy.count, 0))
        for update skip locked
    ) as each
    where w.disabled_at is null
    order by each.due_at
    limit $3
)
update webhook_delivery d set taken_until = $2, attempts = d.attempts + 1
from due where d.message_id = due.message_id
returning d.message_id, d.partner_id, d.type, d.body, d.attempts, d.retry_until, d.taken_until, due.url, due.secret,
    due.former
"""

_DELIVERED: Final = """
update webhook_delivery set delivered_at = $2, given_up_at = null, taken_until = null, last_status = $3,
    last_error = null
where message_id = $1
"""

# Unless another worker has taken it by now. What was given up meanwhile stays so.
_FAILED: Final = """
update webhook_delivery set taken_until = null, last_status = $3, last_error = $4, due_at = coalesce($5, due_at),
    given_up_at = coalesce(given_up_at, $6)
where message_id = $1 and taken_until = $2 and delivered_at is null
"""

# Another address is not gone because the one before is.
_DISABLE: Final = """
update webhook set disabled_at = $3, disabled_why = $4 where partner_id = $1 and url = $2 and disabled_at is null
"""

_GIVE_UP_ALL: Final = f"""
update webhook_delivery set given_up_at = $2, last_error = $3 where partner_id = $1 and {_OPEN}
"""


_PRUNE: Final = """
delete from webhook_delivery where message_id in (
    select message_id from webhook_delivery where delivered_at < $1
    order by delivered_at limit $2 for update skip locked)
"""


class Outbox:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, *, lease: timedelta = LEASE) -> None:
        self._pool = pool
        self._clock = clock
        self._lease = lease

    async def enter(self, messages: Sequence[Message]) -> None:
        """Those whose partner has a webhook that was there when it happened. What was entered before stays as it is."""
        async with passing_failures(), self._pool.acquire() as connection:
            await enter(connection, messages, self._clock.now())

    async def take(self, most: int, *, per_partner: int, under_way: Counter[str]) -> list[Delivery]:
        """Up to so many that are due, with never more than `per_partner` under way to one. Nobody else takes them
        until the lease is over.
        """
        now = self._clock.now()
        async with passing_failures():
            rows = await self._pool.fetch(
                _TAKE, now, now + self._lease, most, per_partner, list(under_way), list(under_way.values())
            )
        return [_delivery(row) for row in rows]

    async def settle(self, delivery: Delivery, answer: Answer, verdict: Verdict) -> None:
        """Write down what became of a try."""
        now = self._clock.now()
        async with passing_failures():
            if verdict.outcome is Outcome.DELIVERED:
                await self._pool.execute(_DELIVERED, delivery.message_id, now, answer.status)
            else:
                given_up_at = now if verdict.outcome is Outcome.GIVEN_UP else None
                await self._pool.execute(_FAILED, *_failure(delivery, answer), verdict.due_at, given_up_at)

    async def disable(self, delivery: Delivery, answer: Answer) -> bool:
        """The receiver is gone: its webhook is disabled, and what waits for it is given up. Nothing of that when the
        webhook has another address by now: then this message is due there.
        """
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            changed = await connection.execute(_DISABLE, delivery.partner_id, delivery.url, now, answer.detail)
            disabled = bool(changed == "UPDATE 1")
            await connection.execute(_FAILED, *_failure(delivery, answer), None, now if disabled else None)
            if disabled:
                await give_up_all(connection, delivery.partner_id, now, f"the webhook was disabled: {answer.detail}")
        return disabled

    async def prune(self) -> None:
        """Forget some of what was delivered long ago."""
        async with passing_failures():
            await self._pool.execute(_PRUNE, self._clock.now() - KEPT_FOR, _PRUNED_AT_ONCE)

    async def waiting(self) -> Waiting:
        async with passing_failures():
            row = await self._pool.fetchrow(f"select count(*), min(created_at) from webhook_delivery where {_OPEN}")
        return Waiting(*row)


async def enter(connection: Connection, messages: Sequence[Message], now: datetime) -> None:
    if messages:
        columns = [list(column) for column in zip(*messages, strict=True)]
        await connection.execute(_ENTER, *columns, now, now + RETRIED_FOR)


async def give_up_all(connection: Connection, partner_id: str, now: datetime, why: str) -> None:
    """Whoever calls this holds the webhook's row."""
    await connection.execute(_GIVE_UP_ALL, partner_id, now, why)


def _delivery(row: Any) -> Delivery:
    message_id, partner_id, type_, body, attempts, retry_until, taken_until, url, *secrets = row
    valid = tuple(secret for secret in secrets if secret is not None)
    return Delivery(message_id, partner_id, MessageType(type_), body, attempts, retry_until, taken_until, url, valid)


def _failure(delivery: Delivery, answer: Answer) -> tuple[str, datetime, int | None, str]:
    return delivery.message_id, delivery.taken_until, answer.status, answer.detail
