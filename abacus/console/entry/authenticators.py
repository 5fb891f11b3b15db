"""Second factors in Postgres: the secret of each person's authenticator, encrypted, and the last code that was used."""

import secrets
from typing import Final

from abacus.console.entry.decide.codes import SECRET_BYTES, bytes_of, enrolment_uri, step_of, text_of
from abacus.core.clock import Clock
from abacus.platform.encryption import SecretPlace, Secrets
from abacus.platform.postgres import Also, Pool, passing_failures
from abacus.platform.sql import Statement

_SET: Final = Statement("""
insert into console_authenticator (person_id, secret, set_at, set_by, last_step)
values (:person_id, :secret, :now, :by, 0)
on conflict (person_id) do update
    set secret = excluded.secret, set_at = excluded.set_at, set_by = excluded.set_by, last_step = 0
""")
_SECRET: Final = Statement("select secret from console_authenticator where person_id = :person_id")
_USE: Final = Statement("""
update console_authenticator set last_step = :step
where person_id = :person_id and secret = :secret and last_step < :step returning person_id
""")
_REMOVE: Final = Statement("delete from console_authenticator where person_id = :person_id returning person_id")


class Authenticators:
    """Every method raises `Unavailable` while the database is away, and `SecretUnreadable` without the key."""

    def __init__(self, pool: Pool, clock: Clock, secrets_: Secrets) -> None:
        self._pool = pool
        self._clock = clock
        self._secrets = secrets_

    async def enrol(self, person_id: str, *, by: str, also: Also) -> str:
        """The address for the person's authenticator, shown once; an earlier one is good no more."""
        secret = secrets.token_bytes(SECRET_BYTES)
        stored = await self._secrets.to_store(text_of(secret), _place(person_id))
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_SET(person_id=person_id, secret=stored, now=self._clock.now(), by=by))
            await also(connection)
        return enrolment_uri(secret, person_id)

    async def remove(self, person_id: str, *, also: Also) -> bool:
        """Returns whether there was one."""
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            there_was = await connection.fetchval(*_REMOVE(person_id=person_id)) is not None
            if there_was:
                await also(connection)
        return there_was

    async def has(self, person_id: str) -> bool:
        async with passing_failures():
            return await self._pool.fetchval(*_SECRET(person_id=person_id)) is not None

    async def accepts(self, person_id: str, code: str) -> bool:
        """Whether the code is the person's now and was not used before; it is used then."""
        async with passing_failures():
            stored = await self._pool.fetchval(*_SECRET(person_id=person_id))
        if stored is None:
            return False
        step = step_of(code, bytes_of(await self._secrets.read(stored, _place(person_id))), self._clock.now())
        if step is None:
            return False
        async with passing_failures():
            used = await self._pool.fetchval(*_USE(person_id=person_id, secret=stored, step=step))
        return used is not None


def _place(person_id: str) -> SecretPlace:
    return SecretPlace("console_authenticator", "secret", person_id)
