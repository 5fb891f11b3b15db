"""Passwords in Postgres, as Argon2id. A wrong one, and one of nobody, take the same time."""

import asyncio
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError

from abacus.console.entry.sessions import all_ended
from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.core.sources import person_source
from abacus.core.tokens import new_secret_text
from abacus.people.store.audit import entry_of, write
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, Pool, passing_failures
from abacus.platform.sql import Statement

SHORTEST: Final = 12
LONGEST: Final = 1000
_AT_ONCE: Final = 2  # each takes 64 MiB
_SET: Final = Statement("""
insert into console_password (person_id, hash, set_at, set_by) values (:person_id, :hash, :now, :by)
on conflict (person_id) do update set hash = excluded.hash, set_at = excluded.set_at, set_by = excluded.set_by
""")
_HASH: Final = Statement("select hash from console_password where person_id = :person_id")
_REHASH: Final = Statement("update console_password set hash = :hash where person_id = :person_id and hash = :former")


class Passwords:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, hasher: PasswordHasher | None = None) -> None:
        self._pool = pool
        self._clock = clock
        self._hasher = hasher or PasswordHasher()
        self._working = asyncio.Semaphore(_AT_ONCE)
        self._nobody: str | None = None

    async def set(self, person_id: str, password: str, *, by: str, also: Also) -> None:
        """Ends the person's sessions. Raises `Refused` for a password that is too short or too long."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise Refused(f"a password has {SHORTEST} to {LONGEST} characters; this one has {len(password)}")
        hashed, now = await self._hashed(password), self._clock.now()
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_SET(person_id=person_id, hash=hashed, now=now, by=by))
            await all_ended(person_id, by=by, now=now)(connection)
            await also(connection)

    async def fits(self, person_id: str, password: str) -> bool:
        """Whether it is the person's. For somebody without one it takes as long."""
        async with passing_failures():
            stored = await self._pool.fetchval(*_HASH(person_id=person_id))
        if self._nobody is None:
            self._nobody = await self._hashed(new_secret_text())
        async with self._working:
            right = await asyncio.to_thread(self._verify, stored or self._nobody, password[: LONGEST + 1])
        if not right or stored is None:
            return False
        if self._hasher.check_needs_rehash(stored):
            renewed = {"person_id": person_id, "hash": await self._hashed(password), "former": stored}
            source, about = person_source(person_id), f"person:{person_id}"
            entry = entry_of(source, Deed.SIGN_IN, about, self._clock.now(), did="hash-password-anew")
            async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
                await connection.execute(*_REHASH(**renewed))
                await write(connection, [entry])
        return True

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (Argon2Error, InvalidHashError):
            return False

    async def _hashed(self, password: str) -> str:
        async with self._working:
            return await asyncio.to_thread(self._hasher.hash, password)
