"""Webhooks in Postgres: set, watched and repaired by the operator."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.intake.partners.store import former_webhook_secret_of, webhook_secret_of
from abacus.intake.partners.webhooks.decide.delivery import RETRIED_FOR
from abacus.intake.partners.webhooks.outbox import give_up_all
from abacus.intake.partners.webhooks.sender import webhook_secrets
from abacus.intake.partners.webhooks.trial import Receiver
from abacus.platform import slices
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures
from abacus.platform.sql import Statement, columns


class Webhook(NamedTuple):
    """The address for messages to a partner. Nothing that happened before `created_at` is sent."""

    partner_id: str
    url: str
    created_at: datetime
    disabled_at: datetime | None
    disabled_why: str | None
    former_secret_until: datetime | None


class Undelivered(NamedTuple):
    """A message that waits or was given up."""

    message_id: str
    type: str
    created_at: datetime
    attempts: int
    due_at: datetime
    retry_until: datetime
    given_up_at: datetime | None
    last_status: int | None
    last_error: str | None


class Delivered(NamedTuple):
    """A message that arrived."""

    message_id: str
    type: str
    created_at: datetime
    attempts: int
    delivered_at: datetime
    last_status: int | None


class UndeliveredCounts(NamedTuple):
    """The numbers of messages of a webhook that did not arrive."""

    waiting: int
    given_up: int


_WEBHOOK: Final = f"select {columns(Webhook)} from webhook where partner_id = :partner_id"
_GET: Final = Statement(_WEBHOOK)
_LOCK: Final = Statement(f"{_WEBHOOK} for update")

_PARTNER_EXISTS: Final = Statement("select true from partner where partner_id = :partner_id")

# Another address for a webhook that is there leaves its secret and its beginning as they are.
_SET: Final = Statement("""
insert into webhook as w (partner_id, url, secret, created_at) values (:partner_id, :url, :secret, :now)
on conflict (partner_id) do update set url = excluded.url, disabled_at = null, disabled_why = null
returning w.xmax = 0
""")

_COUNT: Final = Statement("""
select count(*) filter (where given_up_at is null) as waiting, count(given_up_at) as given_up
from webhook_delivery where partner_id = :partner_id and delivered_at is null
""")

_SECRET: Final = Statement("select secret from webhook where partner_id = :partner_id")
_ROTATE: Final = Statement("""
update webhook set former_secret = :former, former_secret_until = :until, secret = :secret
where partner_id = :partner_id
""")

_ENABLE: Final = Statement("update webhook set disabled_at = null, disabled_why = null where partner_id = :partner_id")

# A former secret counts while it signs.
_RECEIVER: Final = Statement("""
select url, secret, case when former_secret_until > :now then former_secret end as former_secret, disabled_why
from webhook where partner_id = :partner_id
""")

_REMOVE: Final = Statement("delete from webhook where partner_id = :partner_id")

_UNDELIVERED: Final = Statement(f"""
select {columns(Undelivered)} from webhook_delivery where partner_id = :partner_id and delivered_at is null
order by created_at, message_id limit :most
""")

# The index is of all partners' messages: among the newest of these, so that a partner without any costs no scan.
_DELIVERED: Final = Statement(f"""
select {columns(Delivered)} from (
    select * from webhook_delivery where delivered_at is not null order by delivered_at desc limit 1000
) newest where partner_id = :partner_id order by delivered_at desc, message_id limit :most
""")

_RETRY: Final = Statement("""
with locked as materialized (
    select message_id from webhook_delivery
    where partner_id = :partner_id and delivered_at is null
        and (:message_ids::text[] is null or message_id = any(:message_ids))
    order by message_id for update
)
update webhook_delivery d set due_at = :now, retry_until = :retry_until, attempts = 0, given_up_at = null
from locked where d.message_id = locked.message_id and d.delivered_at is null
returning d.message_id
""")


_AS_THEY_ARE: Final = Secrets()


class WebhookStore:
    """Every method raises `Unavailable` while the database is away, and `Refused` for a partner without a webhook.
    Secrets are encrypted if `secrets` encrypt.
    """

    def __init__(self, pool: Pool, clock: Clock, secrets: Secrets = _AS_THEY_ARE) -> None:
        self._pool = pool
        self._clock = clock
        self._secrets = secrets

    async def set(self, partner_id: str, url: str, secret: str, *, also: Also = nothing_else) -> bool:
        """Sets the address, enables the webhook, and returns whether the secret was used: an existing webhook keeps its
        own.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await connection.fetchval(*_PARTNER_EXISTS(partner_id=partner_id)):
                raise absent("partner", partner_id, "`abacus partners list` prints all")
            stored = await self._secrets.to_store(secret, webhook_secret_of(partner_id))
            statement = _SET(partner_id=partner_id, url=url, secret=stored, now=self._clock.now())
            is_new = bool(await connection.fetchval(*statement))
            await also(connection)
        return is_new

    async def get(self, partner_id: str) -> tuple[Webhook, UndeliveredCounts]:
        """The webhook and the counts of its messages, without slices whose servers cannot be reached."""
        async with passing_failures(), self._pool.acquire() as connection:
            webhook = await _existing(connection, partner_id)
        counts = await slices.rows_in_reach(self._pool, _COUNT(partner_id=partner_id))
        return webhook, UndeliveredCounts(*map(sum, zip(*counts, strict=True)))

    async def receiver(self, partner_id: str) -> Receiver:
        """The address and the secrets that sign messages to it. Raises `SecretUnreadable`."""
        async with passing_failures(), self._pool.acquire() as connection:
            await _existing(connection, partner_id)
            row = await connection.fetchrow(*_RECEIVER(partner_id=partner_id, now=self._clock.now()))
        secrets = await webhook_secrets(self._secrets, partner_id, row["secret"], row["former_secret"])
        return Receiver(row["url"], secrets, row["disabled_why"])

    async def rotate_secret(
        self, partner_id: str, secret: str, *, overlap: timedelta, also: Also = nothing_else
    ) -> datetime:
        """Replaces the secret, and returns until when the old secret signs too. Raises `SecretUnreadable` for an old
        secret that is to sign and cannot be read.
        """
        until = self._clock.now() + overlap
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _existing(connection, partner_id, lock=True)
            former: str | None = None
            if overlap:  # bound to its column, so it is encrypted anew for the other one
                old = await connection.fetchval(*_SECRET(partner_id=partner_id))
                old = await self._secrets.read(old, webhook_secret_of(partner_id))
                former = await self._secrets.to_store(old, former_webhook_secret_of(partner_id))
            stored = await self._secrets.to_store(secret, webhook_secret_of(partner_id))
            statement = _ROTATE(partner_id=partner_id, secret=stored, former=former, until=until if overlap else None)
            await connection.execute(*statement)
            await also(connection)
        return until

    async def remove(self, partner_id: str, *, also: Also = nothing_else) -> None:
        """Removes the webhook. Waiting messages are given up."""
        async with slices.together(self._pool) as connection:
            await _existing(connection, partner_id, lock=True)
            await connection.execute(*_REMOVE(partner_id=partner_id))
            await give_up_all(connection, partner_id, self._clock.now(), "the webhook was removed")
            await also(connection)

    async def undelivered(self, partner_id: str, limit: int) -> list[Undelivered]:
        """The oldest first, without slices whose servers cannot be reached."""
        async with passing_failures(), self._pool.acquire() as connection:
            await _existing(connection, partner_id)
        rows = await slices.rows_in_reach(self._pool, _UNDELIVERED(partner_id=partner_id, most=limit))
        undelivered = [Undelivered(*row) for row in rows]
        return sorted(undelivered, key=lambda each: (each.created_at, each.message_id))[:limit]

    async def delivered(self, partner_id: str, limit: int) -> list[Delivered]:
        """The newest first, among the thousand of all partners that arrived last in each slice."""
        rows = await slices.rows_in_reach(self._pool, _DELIVERED(partner_id=partner_id, most=limit))
        delivered = [Delivered(*row) for row in rows]
        return sorted(delivered, key=lambda each: each.delivered_at, reverse=True)[:limit]

    async def retry(self, partner_id: str, ids: Sequence[str], *, enable: bool, also: Also = nothing_else) -> int:
        """Makes these messages, or all undelivered ones, due now and for three days more. Returns how many."""
        now = self._clock.now()
        async with slices.together(self._pool) as connection:
            webhook = await _existing(connection, partner_id, lock=True)
            if webhook.disabled_at is not None:
                if not enable:
                    raise Refused(
                        f"the webhook of {partner_id} is disabled since {webhook.disabled_at:%Y-%m-%d %H:%M} UTC"
                        f" ({webhook.disabled_why}); with --enable it is used again"
                    )
                await connection.execute(*_ENABLE(partner_id=partner_id))
            statement = _RETRY(
                partner_id=partner_id, message_ids=list(ids) or None, now=now, retry_until=now + RETRIED_FOR
            )
            rows = await slices.rows_on(connection, statement)
            unknown = sorted(set(ids) - {row["message_id"] for row in rows})
            if unknown:
                raise Refused(f"{unknown[0]!r} is no undelivered message of {partner_id}; nothing was changed")
            await also(connection)
        return len(rows)


async def _existing(connection: Connection, partner_id: str, *, lock: bool = False) -> Webhook:
    statement = _LOCK if lock else _GET
    row = await connection.fetchrow(*statement(partner_id=partner_id))
    if row is None:
        raise absent("webhook of", partner_id, f"`abacus partners webhook set {partner_id} URL` makes one")
    return Webhook(*row)
