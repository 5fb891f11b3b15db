"""Pools of codes in Postgres: loaded without duplicates, encrypted, each handed out once.

A code's digest is keyed by its pool's own key, which is a secret itself. So a code that is there already is found
whatever key it was encrypted under, and nobody finds a code by guessing at digests.
"""

import hashlib
import secrets as randomness
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple
from uuid import UUID

import asyncpg

from abacus.core.errors import Refused
from abacus.platform.encryption import SecretPlace, Secrets, SecretUnreadable
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.secret_rotation import Rewrapped, SecretColumn
from abacus.platform.sql import Statement, arrays, unnested

LONGEST: Final = 200  # characters of a code
AT_ONCE: Final = 20_000  # codes that are loaded in one transaction
_DIGEST_BYTES: Final = 16
_KEY_BYTES: Final = 32
_COPIED: Final = ("pool", "place", "digest", "secret")


class PoolState(NamedTuple):
    """A pool, and how many of its codes are free: never handed out, or taken and never shown."""

    name: str
    loaded: int
    free: int
    made_at: datetime


class Loaded(NamedTuple):
    """How many codes of a file are new in the pool, and how many were there."""

    new: int
    known: int


class _Place(NamedTuple):
    """Where a code stands."""

    pool: str
    place: int


class _Anew(NamedTuple):
    """A code as it is stored, and as it is to be."""

    pool: str
    place: int
    old: str
    new: str


_POOLS: Final = Statement("""
select p.name, p.loaded,
    p.loaded - p.given + (select count(*) from reward_code c where c.pool = p.name and c.is_spare) as free, p.made_at
from reward_pool p where :name::text is null or p.name = :name order by p.name
""")
_MAKE: Final = Statement("""
insert into reward_pool (name, loaded, given, digest_key, made_at) values (:name, 0, 0, :digest_key, :now)
on conflict do nothing
""")
_KEY: Final = Statement("select digest_key from reward_pool where name = :name")
_LOCK: Final = Statement("select loaded from reward_pool where name = :name for update")
_KNOWN: Final = Statement("select digest from reward_code where pool = :pool and digest = any(:digests::bytea[])")
_GROW: Final = Statement("update reward_pool set loaded = loaded + :new where name = :name")
_CODES: Final = Statement("""
select redemption_id, pool, digest, secret from reward_code
where redemption_id = any(:ids::uuid[]) and secret is not null order by redemption_id, place
""")

_PAGE: Final = Statement("""
select pool, place, digest, secret from reward_code
where (pool, place) > (:pool, :place) and secret is not null order by pool, place limit :most
""")
_REWRAP: Final = Statement(f"""
update reward_code c set secret = u.new from {unnested(_Anew)}
where c.pool = u.pool and c.place = u.place and c.secret = u.old
""")


def pool_key_place(name: str) -> SecretPlace:
    return SecretPlace("reward_pool", "digest_key", name)


def code_place(pool: str, digest: bytes) -> SecretPlace:
    return SecretPlace("reward_code", "secret", f"{pool}/{digest.hex()}")


POOL_KEYS: Final = SecretColumn(pool_key_place, "name")


async def pool_states(pool: Pool, name: str | None = None) -> list[PoolState]:
    """Raises `Unavailable`."""
    async with passing_failures():
        return [PoolState(*row) for row in await pool.fetch(*_POOLS(name=name))]


async def free_codes(pool: Pool) -> Mapping[str, int]:
    """The free codes of each pool. Raises `Unavailable`."""
    return {each.name: each.free for each in await pool_states(pool)}


def read_codes(lines: Iterable[str]) -> Iterator[str]:
    """The codes of a file, one a line. Raises `Refused`, which names the line and no code."""
    for number, line in enumerate(lines, 1):
        code = line.strip()
        if not code:
            continue
        if len(code) > LONGEST or not code.isprintable():
            raise Refused(f"line {number}: no code; a code has at most {LONGEST} printable characters")
        yield code


class CodeLoader:
    """Loads codes into pools. Loading a file twice enters nothing the second time, so it may be interrupted."""

    def __init__(self, pool: Pool, secrets: Secrets) -> None:
        self._pool = pool
        self._secrets = secrets

    async def load(self, name: str, codes: Iterator[str], now: datetime) -> Loaded:
        """Raises `Unavailable`, `Refused` and `SecretUnreadable`."""
        if not self._secrets.encrypts:
            raise Refused("ABACUS_SECRETS_KEY is not set: codes are kept encrypted, or not at all")
        key, new, seen = await self._digest_key(name, now), 0, 0
        while batch := list(islice(codes, AT_ONCE)):
            by_digest = {_digest(code, key): code for code in batch}
            stored = {
                digest: await self._secrets.to_store(code, code_place(name, digest))
                for digest, code in by_digest.items()
            }
            seen += len(batch)
            async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
                new += await _entered(connection, name, stored)
        return Loaded(new, seen - new)

    async def _digest_key(self, name: str, now: datetime) -> bytes:
        place = pool_key_place(name)
        made = await self._secrets.to_store(randomness.token_hex(_KEY_BYTES), place)
        async with passing_failures():
            await self._pool.execute(*_MAKE(name=name, digest_key=made, now=now))
            stored = await self._pool.fetchval(*_KEY(name=name))
        return bytes.fromhex(await self._secrets.read(stored, place))


async def codes_of(through: Pool | Connection, ids: Sequence[UUID], secrets: Secrets) -> dict[UUID, list[str]]:
    """The codes of redemptions, in plain text. Raises `SecretUnreadable`."""
    found: dict[UUID, list[str]] = {}
    for redemption_id, pool, digest, secret in await through.fetch(*_CODES(ids=list(ids))):
        code = await secrets.read(secret, code_place(pool, digest))
        found.setdefault(redemption_id, []).append(code)
    return found


async def rewrap_codes(pool: Pool, secrets: Secrets) -> Rewrapped:
    """Encrypts every code anew that is not under the current key, as `rewrap` does of other secrets. Raises
    `Unavailable`.
    """
    changed = current = 0
    unreadable: list[str] = []
    after = _Place("", 0)
    async with passing_failures():
        while rows := await pool.fetch(*_PAGE(**after._asdict(), most=AT_ONCE)):
            anew: list[_Anew] = []
            for name, place, digest, stored in rows:
                after = _Place(name, place)
                if secrets.is_current(stored):
                    current += 1
                    continue
                at = code_place(name, digest)
                try:
                    anew.append(_Anew(name, place, stored, await secrets.to_store(await secrets.read(stored, at), at)))
                except SecretUnreadable as fault:
                    unreadable.append(str(fault))
            await pool.execute(*_REWRAP(**arrays(_Anew, anew)))
            changed += len(anew)
    return Rewrapped(changed, current, unreadable)


async def _entered(connection: Connection, name: str, codes: Mapping[bytes, str]) -> int:
    """How many are new. Nobody else loads into the pool meanwhile."""
    loaded = await connection.fetchval(*_LOCK(name=name))
    try:
        async with connection.transaction():
            await _copied(connection, name, loaded, codes)
        new = len(codes)
    except asyncpg.UniqueViolationError:
        known = {row["digest"] for row in await connection.fetch(*_KNOWN(pool=name, digests=list(codes)))}
        fresh = {digest: secret for digest, secret in codes.items() if digest not in known}
        await _copied(connection, name, loaded, fresh)
        new = len(fresh)
    await connection.execute(*_GROW(name=name, new=new))
    return new


async def _copied(connection: Connection, name: str, loaded: int, codes: Mapping[bytes, str]) -> None:
    """In their order, behind the last place."""
    rows = [(name, place, digest, secret) for place, (digest, secret) in enumerate(codes.items(), loaded + 1)]
    await connection.copy_records_to_table("reward_code", records=rows, columns=_COPIED)


def _digest(code: str, key: bytes) -> bytes:
    return hashlib.blake2b(code.encode(), key=key, digest_size=_DIGEST_BYTES).digest()
