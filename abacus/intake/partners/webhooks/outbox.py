"""Messages to partners in Postgres: entered once, taken by one worker at a time, kept with their outcome. In a ledger
in slices each lies with its member.

Entering messages and disabling a webhook both lock the webhook's row: a message is either entered before, and given up
with the others, or not at all. Statements that write to several messages lock them in the order of their ids.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import structlog

from abacus.core.clock import Clock
from abacus.intake.partners.webhooks.decide.delivery import Delivery
from abacus.intake.partners.webhooks.decide.message import WebhookMessage
from abacus.intake.partners.webhooks.decide.schedule import RETRIED_FOR
from abacus.platform.delivery.round import taken_round
from abacus.platform.delivery.types import LEASE, Backlog, DeliveryOutcome, Room, Settled
from abacus.platform.postgres import Connection, Pool, passing_failures, rows_changed
from abacus.platform.slices.placement import on_all_slices
from abacus.platform.slices.sliced import all_rows_in_reach, at_slice, in_each_slice, slicing_of, unless_away
from abacus.platform.sql import Statement, arrays, unnested

KEPT_FOR: Final = timedelta(days=30)  # longer than a topic keeps the event: read again, it makes no second message
_PRUNED_AT_ONCE: Final = 1000


class _Free(NamedTuple):
    """How many messages may be sent to a partner now."""

    partner_id: str
    free: int


class _Settlement(NamedTuple):
    """The stored outcome of one attempt. `taken_until` identifies the claim."""

    message_id: str
    taken_until: datetime
    outcome: DeliveryOutcome
    status: int | None
    retry_at: datetime | None
    reason: str | None


# Those that hear of what happens now; nobody disables or removes them until the transaction ends.
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

_OPEN: Final = "delivered_at is null and given_up_at is null"

_OF_ITS_ROW: Final = [name for name in Delivery._fields if name not in {"url", "secret", "former_secret"}]
_RECEIVERS: Final = Statement("""
select partner_id, url, secret, case when former_secret_until > :now then former_secret end as former_secret
from webhook where disabled_at is null
""")

# Of each partner the messages that are due longest, as many as it has room for.
_TAKE: Final = Statement(f"""
with due as materialized (
    select each.message_id
    from {unnested(_Free)}
    cross join lateral (
        select message_id, due_at from webhook_delivery
        where partner_id = u.partner_id and {_OPEN}
            and due_at <= :now and (taken_until is null or taken_until <= :now)
        order by due_at
        limit u.free
        for update skip locked
    ) as each
    order by each.due_at
    limit :most
), taken as (
    update webhook_delivery d set taken_until = :taken_until, attempts = d.attempts + 1
    from due where d.message_id = due.message_id
    returning {", ".join(f"d.{name}" for name in _OF_ITS_ROW)}
)
select * from taken
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

_WAITING: Final = Statement(
    f"select count(*) as deliveries, min(created_at) as oldest from webhook_delivery where {_OPEN}"
)

# Does the work in that slice, or passes it over.
Unless: TypeAlias = Callable[[int, Callable[[], Awaitable[bool]]], Awaitable[bool | None]]

log = structlog.get_logger(__name__)


async def always(_: int, work: Callable[[], Awaitable[bool]]) -> bool | None:
    """`Unless`, for whoever waits."""
    return await work()


class Outbox:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, *, lease: timedelta = LEASE) -> None:
        self._pool = pool
        self._clock = clock
        self._lease = lease

    async def enter(self, messages: Sequence[WebhookMessage], unless: Unless = always) -> None:
        """Enters the messages whose partner had a webhook when they happened. Messages that were entered before stay as
        they are. Those of a slice are entered `unless` it is passed over.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await enter(self._pool, connection, messages, self._clock.now(), unless)

    async def take(self, room: Room) -> Sequence[Delivery]:
        """Takes from each partner as many messages as it has room for. Those of slices whose servers are away wait."""
        async with passing_failures():
            rows = await self._pool.fetch(*_RECEIVERS(now=self._clock.now()))
        receivers = {row["partner_id"]: tuple(row)[1:] for row in rows}
        if not receivers:
            return []
        return await taken_round(self._pool, room, lambda number, free: self._take_in(number, receivers, free))

    async def _take_in(self, number: int, receivers: Mapping[str, Any], room: Room) -> Sequence[Delivery]:
        now = self._clock.now()
        free = [_Free(each, max(0, room.per_receiver - room.busy.get(each, 0))) for each in sorted(receivers)]
        statement = _TAKE(**arrays(_Free, free), now=now, taken_until=now + self._lease, most=room.most)
        async with passing_failures(), at_slice(self._pool, number) as connection:
            rows = await connection.fetch(*statement)
        return [Delivery(*row, *receivers[row["partner_id"]]) for row in rows]

    async def settle(self, settled: Sequence[Settled[Delivery]]) -> None:
        """Writes the outcome of attempts. A receiver that is gone disables its webhook, once all slices can be told."""
        gone = [each for each in settled if each.verdict.outcome is DeliveryOutcome.GONE]
        await self._settle([each for each in settled if each.verdict.outcome is not DeliveryOutcome.GONE])
        for each in gone:
            if await unless_away(self._pool, self._disable(each)):
                delivery = each.claim
                why = each.answer.detail
                log.warning("webhook disabled", partner=delivery.partner_id, url=delivery.url, why=why)

    async def _settle(self, settled: Sequence[Settled[Delivery]]) -> None:
        """Messages of a slice whose server is away are sent again when it is back."""
        parts = (await slicing_of(self._pool)).by_slice(settled, lambda each: each.claim.member_id)
        for number, part in parts.items():
            if await unless_away(self._pool, self._settle_in(number, part)) is None:
                log.warning("messages are sent again", messages=len(part), why=f"the server of slice {number} is away")

    async def _settle_in(self, number: int, settled: Sequence[Settled[Delivery]]) -> bool:
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
        statement = _SETTLE(**arrays(_Settlement, settlements), now=self._clock.now())
        return await _executed_in(self._pool, number, statement)

    async def _disable(self, gone: Settled[Delivery]) -> bool:
        """The receiver is gone: disables its webhook and gives up the waiting messages. If the webhook has another
        address by now, neither happens: then this message is due there.
        """
        now, delivery, why = self._clock.now(), gone.claim, gone.answer.detail
        async with on_all_slices(self._pool) as connection:
            statement = _DISABLE(partner_id=delivery.partner_id, url=delivery.url, now=now, why=why)
            disabled = await rows_changed(connection, statement) > 0
            if disabled:
                await give_up_all(connection, delivery.partner_id, now, f"the webhook was disabled: {why}")
        outcome = DeliveryOutcome.GIVEN_UP if disabled else DeliveryOutcome.RETRIED
        await self._settle([gone._replace(verdict=gone.verdict._replace(outcome=outcome))])
        return disabled

    async def prune(self) -> None:
        """Deletes some of the messages that were delivered long ago."""
        statement = _PRUNE(before=self._clock.now() - KEPT_FOR)
        for number in range((await slicing_of(self._pool)).slices):
            await unless_away(self._pool, _executed_in(self._pool, number, statement))

    async def waiting(self) -> Backlog:
        """Without those of slices whose servers cannot be reached."""
        rows = await all_rows_in_reach(self._pool, _WAITING())
        oldest = [row["oldest"] for row in rows if row["oldest"] is not None]
        return Backlog(sum(row["deliveries"] for row in rows), min(oldest, default=None))


async def enter(
    pool: Pool, connection: Connection, messages: Sequence[WebhookMessage], now: datetime, unless: Unless = always
) -> None:
    """In a transaction of the connection, which holds the webhooks until all are entered."""
    if not messages:
        return
    rows = await connection.fetch(*_HEARING(partners=sorted({message.partner_id for message in messages})))
    since = dict(map(tuple, rows))
    heard = [each for each in messages if each.partner_id in since and since[each.partner_id] <= each.happened_at]
    slicing = await slicing_of(pool)
    for number, part in slicing.by_slice(heard, lambda message: message.member_id).items():
        statement = _ENTER(**arrays(WebhookMessage, part), now=now, retry_until=now + RETRIED_FOR)
        if slicing.is_cut:
            await unless(number, partial(_executed_in, pool, number, statement))
        else:
            await connection.execute(*statement)


async def _executed_in(pool: Pool, number: int, statement: tuple[Any, ...]) -> bool:
    async with passing_failures(), at_slice(pool, number) as near:
        await near.execute(*statement)
    return True


async def give_up_all(connection: Connection, partner_id: str, now: datetime, why: str) -> None:
    """The caller holds the lock on the webhook's row, on a connection to all slices."""
    statement = _GIVE_UP_ALL(partner_id=partner_id, now=now, why=why)
    await in_each_slice(connection, lambda: connection.execute(*statement))
