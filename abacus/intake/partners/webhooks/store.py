"""Webhooks in Postgres, as the operator sets them and looks after them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.intake.partners.webhooks.decide.schedule import RETRIED_FOR
from abacus.intake.partners.webhooks.outbox import give_up_all
from abacus.platform.postgres import Connection, Pool, passing_failures


class Webhook(NamedTuple):
    """Where a partner is told of its awards. What happened before `created_at` it is not told."""

    partner_id: str
    url: str
    created_at: datetime
    disabled_at: datetime | None
    disabled_why: str | None
    former_secret_until: datetime | None


class Undelivered(NamedTuple):
    """A message that waits, or that was given up."""

    message_id: str
    type: str
    created_at: datetime
    attempts: int
    due_at: datetime
    retry_until: datetime
    given_up_at: datetime | None
    last_status: int | None
    last_error: str | None


class Counts(NamedTuple):
    """The messages of a webhook that did not arrive."""

    waiting: int
    given_up: int


_WEBHOOK: Final = ", ".join(Webhook._fields)
_UNDELIVERED: Final = ", ".join(Undelivered._fields)

# Another address for a webhook that is there leaves its secret and its beginning as they are.
_SET: Final = """
insert into webhook as w (partner_id, url, secret, created_at) values ($1, $2, $3, $4)
on conflict (partner_id) do update set url = excluded.url, disabled_at = null, disabled_why = null
returning w.xmax = 0
"""

_RETRY: Final = """
update webhook_delivery set due_at = $2, retry_until = $3, attempts = 0, given_up_at = null
where partner_id = $1 and delivered_at is null and ($4::text[] is null or message_id = any($4))
returning message_id
"""


class WebhookStore:
    """Every method raises `Unavailable` while the database is away, and `Refused` for a partner without a webhook."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def set(self, partner_id: str, url: str, secret: str) -> bool:
        """Whether the secret was needed: a webhook that was there has its own. A disabled one is enabled."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if not await connection.fetchval("select true from partner where partner_id = $1", partner_id):
                raise Refused(f"no partner is called {partner_id!r}; `abacus partners list` prints those that are")
            return bool(await connection.fetchval(_SET, partner_id, url, secret, self._clock.now()))

    async def get(self, partner_id: str) -> tuple[Webhook, Counts]:
        async with passing_failures(), self._pool.acquire() as connection:
            webhook = await _existing(connection, partner_id)
            counts = await connection.fetchrow(
                "select count(*) filter (where given_up_at is null), count(given_up_at) from webhook_delivery"
                " where partner_id = $1 and delivered_at is null",
                partner_id,
            )
        return webhook, Counts(*counts)

    async def rotate_secret(self, partner_id: str, secret: str, *, overlap: timedelta) -> datetime:
        """Until when the secret so far signs too."""
        until = self._clock.now() + overlap
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _existing(connection, partner_id, lock=True)
            await connection.execute(
                "update webhook set former_secret = secret, former_secret_until = $3, secret = $2"
                " where partner_id = $1",
                partner_id,
                secret,
                until,
            )
        return until

    async def remove(self, partner_id: str) -> None:
        """What still waits is given up."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _existing(connection, partner_id, lock=True)
            await connection.execute("delete from webhook where partner_id = $1", partner_id)
            await give_up_all(connection, partner_id, self._clock.now(), "the webhook was removed")

    async def undelivered(self, partner_id: str, limit: int) -> list[Undelivered]:
        """The oldest first."""
        async with passing_failures(), self._pool.acquire() as connection:
            await _existing(connection, partner_id)
            rows = await connection.fetch(
                f"select {_UNDELIVERED} from webhook_delivery where partner_id = $1 and delivered_at is null"
                " order by created_at, message_id limit $2",
                partner_id,
                limit,
            )
        return [Undelivered(*row) for row in rows]

    async def retry(self, partner_id: str, ids: Sequence[str], *, enable: bool) -> int:
        """Make these messages, or all that did not arrive, due now and for three days more. How many there are."""
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            webhook = await _existing(connection, partner_id, lock=True)
            if webhook.disabled_at is not None:
                if not enable:
                    raise Refused(
                        f"the webhook of {partner_id} is disabled since {webhook.disabled_at:%Y-%m-%d %H:%M} UTC"
                        f" ({webhook.disabled_why}); with --enable it is used again"
                    )
                await connection.execute(
                    "update webhook set disabled_at = null, disabled_why = null where partner_id = $1", partner_id
                )
            rows = await connection.fetch(_RETRY, partner_id, now, now + RETRIED_FOR, list(ids) or None)
            unknown = sorted(set(ids) - {row["message_id"] for row in rows})
            if unknown:
                raise Refused(f"{unknown[0]!r} is no undelivered message of {partner_id}; nothing was changed")
        return len(rows)


async def _existing(connection: Connection, partner_id: str, *, lock: bool = False) -> Webhook:
    row = await connection.fetchrow(
        f"select {_WEBHOOK} from webhook where partner_id = $1{' for update' if lock else ''}", partner_id
    )
    if row is None:
        raise Refused(f"{partner_id!r} has no webhook; `abacus partners webhook set {partner_id} URL` makes one")
    return Webhook(*row)
