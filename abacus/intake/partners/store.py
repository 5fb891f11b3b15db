"""Partners, their keys and limits in Postgres."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.core.tokens import NewToken
from abacus.intake.partners.decide.partner import Partner, PartnerKey, RightsChange, checked
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.store.allowances import awarded, count_anew
from abacus.ledger.types.limits import Limits
from abacus.platform import slices
from abacus.platform.encryption import SecretPlace, Secrets
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, passing_failures, rows_changed
from abacus.platform.secret_rotation import SecretColumn
from abacus.platform.sql import Statement, arrays, columns, parameters, unnested


def signing_secret_of(partner_id: str) -> SecretPlace:
    return SecretPlace("partner", "signing_secret", partner_id)


def webhook_secret_of(partner_id: str) -> SecretPlace:
    return SecretPlace("webhook", "secret", partner_id)


def former_webhook_secret_of(partner_id: str) -> SecretPlace:
    return SecretPlace("webhook", "former_secret", partner_id)


SECRET_COLUMNS: Final = tuple(
    SecretColumn(place, "partner_id") for place in (signing_secret_of, webhook_secret_of, former_webhook_secret_of)
)


_HAS_CARD: Final = Statement("""
select exists (
    select from rate_card c where scope = :scope and not exists (
        select from rate_card_withdrawal w where w.scope = c.scope and w.version = c.version
    )
)
""")
_CREATE: Final = Statement(f"insert into partner ({columns(Partner)}) values ({parameters(Partner)})")
_CREATE_ONCE: Final = Statement(f"""
insert into partner ({columns(Partner)}) values ({parameters(Partner)}) on conflict (partner_id) do nothing
""")
_ALLOW: Final = Statement(f"""
insert into allowance (partner_id, {columns(Limits)}) values (:partner_id, {parameters(Limits)})
""")
_ADD_KEY: Final = Statement(f"insert into partner_key ({columns(PartnerKey)}) values ({parameters(PartnerKey)})")

_LOCK: Final = Statement(f"select {columns(Partner)} from partner where partner_id = :partner_id for update")
_VALID_KEYS: Final = Statement("""
select prefix from partner_key where partner_id = :partner_id and (expires_at is null or expires_at > :now)
order by created_at desc, prefix
""")
_END_KEY: Final = Statement("update partner_key set expires_at = least(expires_at, :end) where prefix = :prefix")
_DISABLE: Final = Statement("""
update partner set disabled_at = coalesce(disabled_at, :now) where partner_id = :partner_id returning disabled_at
""")
_ENABLE: Final = Statement("update partner set disabled_at = null where partner_id = :partner_id")
_CHANGEABLE: Final = tuple(RightsChange.__annotations__)
_CHANGE: Final = Statement(f"""
update partner set {", ".join(f"{name} = :{name}" for name in _CHANGEABLE)} where partner_id = :partner_id
""")
_SIGN: Final = Statement("update partner set signing_secret = :secret where partner_id = :partner_id")
# The application has no right to the columns: this function changes them, and looks for the entry of the log first.
_LIMIT: Final = Statement(f"select abacus_set_limits(:partner_id, {parameters(Limits)})")

_PARTNERS: Final = Statement(f"select {columns(Partner)} from partner order by partner_id")
_KEYS: Final = Statement(f"select {columns(PartnerKey)} from partner_key order by created_at, prefix")


class _Use(NamedTuple):
    """When a key was last used."""

    prefix: str
    last_used_at: datetime


_NOTE_USE: Final = Statement(f"""
update partner_key k set last_used_at = greatest(k.last_used_at, u.last_used_at)
from {unnested(_Use)} where k.prefix = u.prefix
""")


class Registered(NamedTuple):
    """A partner with its keys and limits."""

    partner: Partner
    keys: Sequence[PartnerKey]
    allowance: Allowance


_AS_THEY_ARE: Final = Secrets()


class PartnerStore:
    """Every method raises `Unavailable` while the database is away. A partner is read with its signing secret as it is
    stored; a secret that is given is encrypted if `secrets` encrypt.
    """

    def __init__(self, pool: Pool, clock: Clock, secrets: Secrets = _AS_THEY_ARE) -> None:
        self._pool = pool
        self._clock = clock
        self._secrets = secrets

    async def create(self, partner: Partner, limits: Limits, key: NewToken, *, also: Also = nothing_else) -> None:
        """Enters a partner. Raises `Refused` for bad values, and for an id that is taken."""
        checked(partner)
        partner_id = partner.partner_id
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await _check_card(connection, partner.card_scope)
            try:
                stored = partner._replace(signing_secret=await self._to_store(partner_id, partner.signing_secret))
                await connection.execute(*_CREATE(**stored._asdict()))
            except asyncpg.UniqueViolationError:
                raise Refused(f"there is a partner {partner_id!r} already") from None
            await connection.execute(*_ALLOW(partner_id=partner_id, **limits._asdict()))
            await _add_key(connection, partner_id, key, partner.created_at)
            await also(connection)

    async def replace(self, partner: Partner, limits: Limits, key: NewToken, *, also: Also) -> None:
        """Enters a partner, or gives the one of this id these limits and this secret; only this key is valid then.
        `also` writes the entry of the log, as with `limit`.
        """
        now = self._clock.now()
        async with slices.together(self._pool) as connection:
            await also(connection)
            stored = await self._to_store(partner.partner_id, partner.signing_secret)
            entering = _CREATE_ONCE(**partner._replace(signing_secret=stored, disabled_at=None)._asdict())
            is_new = await rows_changed(connection, entering) > 0
            await connection.execute(*_SIGN(partner_id=partner.partner_id, secret=stored))
            if is_new:
                await connection.execute(*_ALLOW(partner_id=partner.partner_id, **limits._asdict()))
            else:
                await self._limit(connection, partner.partner_id, limits)
            for row in await connection.fetch(*_VALID_KEYS(partner_id=partner.partner_id, now=now)):
                await connection.execute(*_END_KEY(prefix=row["prefix"], end=now))
            await _add_key(connection, partner.partner_id, key, now)

    async def rotate(
        self, partner_id: str, key: NewToken, *, overlap: timedelta, also: Also = nothing_else
    ) -> datetime:
        """Adds the new key, and returns the end of the overlap: until then the newest old key stays valid. Older keys
        end now.
        """
        now = self._clock.now()
        async with self._changing(partner_id, also) as (connection, _):
            for place, row in enumerate(await connection.fetch(*_VALID_KEYS(partner_id=partner_id, now=now))):
                await connection.execute(*_END_KEY(prefix=row["prefix"], end=now if place else now + overlap))
            await _add_key(connection, partner_id, key, now)
        return now + overlap

    async def disable(self, partner_id: str, *, also: Also = nothing_else) -> datetime:
        """Disables the partner: its keys are refused from now on. Awards that were accepted before are still posted."""
        async with self._changing(partner_id, also) as (connection, _):
            since: datetime = await connection.fetchval(*_DISABLE(partner_id=partner_id, now=self._clock.now()))
        return since

    async def enable(self, partner_id: str, *, also: Also = nothing_else) -> None:
        """Enables a disabled partner: its keys that have not ended are valid again."""
        async with self._changing(partner_id, also) as (connection, _):
            await connection.execute(*_ENABLE(partner_id=partner_id))

    async def change(
        self, partner_id: str, change: RightsChange, *, also: Also = nothing_else
    ) -> tuple[Partner, Partner]:
        """Changes the rights that are named, and returns the partner before and after. Raises `Refused` for bad values,
        as `create` does.
        """
        async with self._changing(partner_id, also) as (connection, before):
            after = checked(before._replace(**change))
            if after.card_scope != before.card_scope:
                await _check_card(connection, after.card_scope)
            values = {name: getattr(after, name) for name in _CHANGEABLE}
            await connection.execute(*_CHANGE(partner_id=partner_id, **values))
        return before, after

    async def sign(self, partner_id: str, secret: str | None, *, also: Also = nothing_else) -> None:
        """Sets the one secret that its requests must be signed with; None: they need not be signed."""
        async with self._changing(partner_id, also) as (connection, _):
            stored = await self._to_store(partner_id, secret)
            await connection.execute(*_SIGN(partner_id=partner_id, secret=stored))

    async def limit(self, partner_id: str, limits: Limits, *, also: Also) -> None:
        """Replaces the limits of the partner. `also` writes the entry of the log, of the deed `EDIT_LIMITS` and about
        `partner:ID`: the database refuses other limits without it. In a ledger in slices every slice is told, so all
        their servers have to be there.
        """
        async with slices.together(self._pool) as connection:
            await _lock(connection, partner_id)
            await also(connection)
            await self._limit(connection, partner_id, limits)

    async def get(self, partner_id: str) -> Registered:
        """One partner. Raises `Refused` for an unknown one."""
        for registered in await self.all():
            if registered.partner.partner_id == partner_id:
                return registered
        raise _unknown(partner_id)

    async def all(self, *, within_s: float | None = None) -> list[Registered]:
        """All partners. Awards in slices that cannot be read, or not within `within_s`, are left out."""
        async with passing_failures(), self._pool.acquire() as connection:
            partners = [_partner(row) for row in await connection.fetch(*_PARTNERS())]
            keys = [PartnerKey(*row) for row in await connection.fetch(*_KEYS())]
        by_partner: dict[str, list[PartnerKey]] = {}
        for key in keys:
            by_partner.setdefault(key.partner_id, []).append(key)
        allowances = await awarded(self._pool, within_s=within_s)
        return [
            Registered(partner, by_partner.get(partner.partner_id, []), allowances[partner.partner_id])
            for partner in partners
        ]

    async def note_use(self, last_used: Mapping[str, datetime]) -> None:
        """Writes the times of the keys' last use, by prefix."""
        async with passing_failures():
            await self._pool.execute(*_NOTE_USE(**arrays(_Use, [_Use(*use) for use in last_used.items()])))

    @asynccontextmanager
    async def _changing(self, partner_id: str, also: Also) -> AsyncIterator[tuple[Connection, Partner]]:
        """A transaction with the partner locked, and the partner as it is; `also` is done in it. Raises `Refused` for
        an unknown partner.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            yield connection, await _lock(connection, partner_id)
            await also(connection)

    async def _limit(self, connection: Connection, partner_id: str, limits: Limits) -> None:
        await connection.execute(*_LIMIT(partner_id=partner_id, **limits._asdict()))
        await count_anew(connection, partner_id, self._clock.now().astimezone(UTC).date())

    async def _to_store(self, partner_id: str, secret: str | None) -> str | None:
        return None if secret is None else await self._secrets.to_store(secret, signing_secret_of(partner_id))


def _partner(row: Sequence[Any]) -> Partner:
    partner = Partner(*row)
    sources = None if partner.sources is None else tuple(partner.sources)
    return partner._replace(countries=tuple(partner.countries), sources=sources)


async def _lock(connection: Connection, partner_id: str) -> Partner:
    """The partner as it is. Raises `Refused` for an unknown partner."""
    row = await connection.fetchrow(*_LOCK(partner_id=partner_id))
    if row is None:
        raise _unknown(partner_id)
    return _partner(row)


def _unknown(partner_id: str) -> Refused:
    return absent("partner", partner_id, "`abacus partners list` prints all")


async def _check_card(connection: Connection, scope: str | None) -> None:
    """Raises `Refused` for a scope without a card."""
    if scope is not None and not await connection.fetchval(*_HAS_CARD(scope=scope)):
        raise Refused(f"--card: no rate card of the scope {scope!r} is published")


async def _add_key(connection: Connection, partner_id: str, key: NewToken, now: datetime) -> None:
    row = PartnerKey(key.prefix, partner_id, key.digest, created_at=now, expires_at=None, last_used_at=None)
    await connection.execute(*_ADD_KEY(**row._asdict()))
