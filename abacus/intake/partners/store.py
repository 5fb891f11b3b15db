"""Partners, their keys and limits in Postgres."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.intake.partners.decide.keys import NewKey
from abacus.intake.partners.decide.partner import Partner, PartnerKey, checked
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.types.limits import Limits
from abacus.platform.postgres import Connection, Pool, passing_failures

_PARTNER_COLUMNS: Final = ", ".join(Partner._fields)
_KEY_COLUMNS: Final = ", ".join(PartnerKey._fields)


class Registered(NamedTuple):
    """A partner with everything that belongs to it."""

    partner: Partner
    keys: Sequence[PartnerKey]
    allowance: Allowance


class PartnerStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def create(self, partner: Partner, limits: Limits, key: NewKey) -> None:
        """Raises `Refused` for a partner that makes no sense, or whose id is taken."""
        checked(partner)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            if partner.card_scope is not None and not await connection.fetchval(
                "select exists (select from rate_card where scope = $1)", partner.card_scope
            ):
                raise Refused(f"--card: no rate card of the scope {partner.card_scope!r} is published")
            try:
                await connection.execute(
                    f"insert into partner ({_PARTNER_COLUMNS})"
                    " values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
                    *partner,
                )
            except asyncpg.UniqueViolationError:
                raise Refused(f"there is a partner {partner.partner_id!r} already") from None
            await connection.execute(
                "insert into allowance (partner_id, per_award, per_member_day, per_day, in_total)"
                " values ($1, $2, $3, $4, $5)",
                partner.partner_id,
                *limits,
            )
            await _add_key(connection, partner.partner_id, key, partner.created_at)

    async def rotate(self, partner_id: str, key: NewKey, *, overlap: timedelta) -> datetime:
        """A new key; the newest one so far stays valid for the overlap and older ones end now. Until when it does."""
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _exists(connection, partner_id)
            rows = await connection.fetch(
                "select prefix from partner_key where partner_id = $1 and (expires_at is null or expires_at > $2)"
                " order by created_at desc, prefix",
                partner_id,
                now,
            )
            for place, row in enumerate(rows):
                await connection.execute(
                    "update partner_key set expires_at = least(expires_at, $2) where prefix = $1",
                    row["prefix"],
                    now if place else now + overlap,
                )
            await _add_key(connection, partner_id, key, now)
        return now + overlap

    async def disable(self, partner_id: str) -> datetime:
        """From now on its keys open nothing. What was accepted before is still posted."""
        now = self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _exists(connection, partner_id)
            since: datetime = await connection.fetchval(
                "update partner set disabled_at = coalesce(disabled_at, $2) where partner_id = $1"
                " returning disabled_at",
                partner_id,
                now,
            )
        return since

    async def sign(self, partner_id: str, secret: str | None) -> None:
        """Its requests must be signed with this secret, and with no other any more; or need not be signed."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _exists(connection, partner_id)
            await connection.execute("update partner set signing_secret = $2 where partner_id = $1", partner_id, secret)

    async def limit(self, partner_id: str, limits: Limits) -> None:
        """Put other limits in place of those it has."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _exists(connection, partner_id)
            await connection.execute(
                "update allowance set per_award = $2, per_member_day = $3, per_day = $4, in_total = $5"
                " where partner_id = $1",
                partner_id,
                *limits,
            )

    async def all(self) -> list[Registered]:
        async with passing_failures(), self._pool.acquire() as connection:
            partners = await connection.fetch(f"select {_PARTNER_COLUMNS} from partner order by partner_id")
            keys = await connection.fetch(f"select {_KEY_COLUMNS} from partner_key order by created_at, prefix")
            allowances = await connection.fetch(
                "select partner_id, per_award, per_member_day, per_day, in_total, used, day, used_that_day"
                " from allowance"
            )
        by_partner: dict[str, list[PartnerKey]] = {}
        for row in keys:
            key = PartnerKey(*row)
            by_partner.setdefault(key.partner_id, []).append(key)
        spent = {row[0]: Allowance(Limits(*row[1:5]), *row[5:]) for row in allowances}
        found = [Partner(*row)._replace(countries=tuple(row["countries"])) for row in partners]
        return [Registered(each, by_partner.get(each.partner_id, []), spent[each.partner_id]) for each in found]

    async def note_use(self, last_used: Mapping[str, datetime]) -> None:
        """When keys were last used, by prefix."""
        async with passing_failures():
            await self._pool.execute(
                "update partner_key k set last_used_at = greatest(k.last_used_at, u.at)"
                " from unnest($1::text[], $2::timestamptz[]) as u (prefix, at) where k.prefix = u.prefix",
                list(last_used),
                list(last_used.values()),
            )


async def _exists(connection: Connection, partner_id: str) -> None:
    if not await connection.fetchval("select true from partner where partner_id = $1 for update", partner_id):
        raise Refused(f"no partner is called {partner_id!r}; `abacus partners list` prints those that are")


async def _add_key(connection: Connection, partner_id: str, key: NewKey, now: datetime) -> None:
    await connection.execute(
        "insert into partner_key (prefix, partner_id, digest, created_at) values ($1, $2, $3, $4)",
        key.prefix,
        partner_id,
        key.digest,
        now,
    )
