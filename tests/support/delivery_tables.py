"""The tables that deliverers work on, as the contract of the delivery kit sees them. A new deliverer adds its own."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from abacus.core.clock import SystemClock
from abacus.engage.actions.calls import CallOutbox, call_id
from abacus.engage.downstreams.decide.downstream import Downstream, DownstreamKind
from abacus.engage.notify.decide.message import ChannelName
from abacus.engage.notify.decide.pace import read_rates
from abacus.engage.notify.outbox import NotificationOutbox
from abacus.intake.partners.webhooks.decide.message import MessageType, WebhookMessage
from abacus.intake.partners.webhooks.outbox import WebhookOutbox
from abacus.platform.delivery.deliverer import Deliveries
from abacus.platform.pace.decide.pace import Pace
from abacus.platform.postgres import Pool
from tests.support.hooks import partner
from tests.support.slices import neighbour

CLOCK = SystemClock()

# Receivers of the tests. As members they lie in one slice.
ACME, BITS, DOWN, SLOW, UP = (neighbour(name) for name in ("acme", "bits", "down", "slow", "up"))
RECEIVERS = [neighbour(f"receiver-{number}-") for number in range(20)]


class Stored(NamedTuple):
    """The values that a table keeps of one delivery."""

    attempts: int
    delivered: bool
    given_up: bool
    reason: str | None


class Table(Protocol):
    """The operations on a table that the contract needs."""

    async def enter(self, pool: Pool, receivers: Sequence[str]) -> list[str]:
        """Enter one delivery for each receiver, due now, in this order; their ids."""
        ...

    def deliveries(self, pool: Pool) -> Deliveries[Any]: ...

    async def end_leases(self, pool: Pool) -> None:
        """Make waiting deliveries due, as if a minute had passed."""
        ...

    async def stored(self, pool: Pool) -> dict[str, Stored]: ...


class NotificationTable:
    """`notification`, of one slice and of one channel that is as quick as can be."""

    async def enter(self, pool: Pool, receivers: Sequence[str]) -> list[str]:
        ids = [f"ntf_{number:03}" for number in range(len(receivers))]
        start = CLOCK.now() - timedelta(minutes=1)
        await pool.executemany(
            "insert into notification (member_id, message_id, channel, locale, parts, created_at, due_at)"
            " values ($1, $2, 'log', 'en', '[]', $3, $3)",
            [(receiver, ids[n], start + timedelta(milliseconds=n)) for n, receiver in enumerate(receivers)],
        )
        return ids

    def deliveries(self, pool: Pool) -> Deliveries[Any]:
        pace = Pace(read_rates("log=100000/s")[ChannelName.LOG], ZoneInfo("UTC"))
        return NotificationOutbox(pool, CLOCK, ChannelName.LOG, pace)

    async def end_leases(self, pool: Pool) -> None:
        await pool.execute("update notification set due_at = now() where due_at > now()")

    async def stored(self, pool: Pool) -> dict[str, Stored]:
        rows = await pool.fetch(
            "select message_id, attempts, sent_at is not null, parked_at is not null, last_error from notification"
        )
        return {message_id: Stored(*kept) for message_id, *kept in rows}


class WebhookTable:
    """`webhook_delivery`, with a webhook for each receiver."""

    async def enter(self, pool: Pool, receivers: Sequence[str]) -> list[str]:
        for receiver in sorted(set(receivers)):
            await partner(pool, receiver, "https://hooks.example/")
        ids = [f"msg_{number:03}" for number in range(len(receivers))]
        now = CLOCK.now()
        messages = [
            WebhookMessage(id_, receiver, "bob", MessageType.POSTED, "{}", now)
            for id_, receiver in zip(ids, receivers, strict=True)
        ]
        await WebhookOutbox(pool, CLOCK).enter(messages)
        await pool.execute(
            "update webhook_delivery set due_at = due_at - interval '1 minute'"
            " + right(message_id, 3)::int * interval '1 millisecond'"
        )
        return ids

    def deliveries(self, pool: Pool) -> Deliveries[Any]:
        return WebhookOutbox(pool, CLOCK)

    async def end_leases(self, pool: Pool) -> None:
        await pool.execute("update webhook_delivery set taken_until = now() where taken_until > now()")

    async def stored(self, pool: Pool) -> dict[str, Stored]:
        rows = await pool.fetch(
            "select message_id, attempts, delivered_at is not null, given_up_at is not null, last_error"
            " from webhook_delivery"
        )
        return {message_id: Stored(*kept) for message_id, *kept in rows}


class CallTable:
    """`action`, of webhooks that campaigns call."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._webhooks: dict[str, Downstream] = {}

    async def enter(self, pool: Pool, receivers: Sequence[str]) -> list[str]:
        keys = [f"campaign:market:{number}" for number in range(len(receivers))]
        self._keys = dict(sorted((call_id(key, 0), key) for key in keys))
        self._webhooks = {
            name: Downstream(name, DownstreamKind.WEBHOOK, f"https://{name}.example/") for name in receivers
        }
        start = CLOCK.now() - timedelta(minutes=1)
        await pool.executemany(
            "insert into action (member_id, key, number, owner_kind, owner, version, step, kind, receiver, decided_at,"
            " due_at, document) values ('bob', $1, 0, 'campaign', 'market', 1, 1, 'call', $2, $3, $4, '{}')",
            [
                (key, f"webhook:{receiver}", start, start + timedelta(milliseconds=number))
                for number, (key, receiver) in enumerate(zip(self._keys.values(), receivers, strict=True))
            ],
        )
        return list(self._keys)

    def deliveries(self, pool: Pool) -> Deliveries[Any]:
        return CallOutbox(pool, CLOCK, lambda: self._webhooks)

    async def end_leases(self, pool: Pool) -> None:
        await pool.execute("update action set due_at = now() where due_at > now()")

    async def stored(self, pool: Pool) -> dict[str, Stored]:
        rows = await pool.fetch("select key, attempts, done_at is not null, refused_at is not null, reason from action")
        return {call_id(key, 0): Stored(*kept) for key, *kept in rows}


TABLES: dict[str, Table] = {
    "notifications": NotificationTable(),
    "webhooks": WebhookTable(),
    "calls": CallTable(),
}
