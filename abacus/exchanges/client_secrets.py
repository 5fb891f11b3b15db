"""The secrets of the house as a client of its partners, by which it asks whose a sign-in is. Encrypted in Postgres."""

from datetime import datetime
from typing import Final

from abacus.core.errors import Refused, Unavailable
from abacus.platform.encryption import SecretPlace, Secrets, SecretUnreadable
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.platform.secret_rotation import SecretColumn
from abacus.platform.sql import Statement

LONGEST: Final = 1000
_DEPENDENCY: Final = "secrets"
_SET: Final = Statement("""
insert into exchange_client_secret (programme, secret, client, set_at, set_by)
values (:programme, :secret, :client, :now, :by)
on conflict (programme) do update
    set secret = excluded.secret, client = excluded.client, set_at = excluded.set_at, set_by = excluded.set_by
""")
_STORED: Final = Statement("select secret, client from exchange_client_secret where programme = :programme")


def client_secret_place(programme: object) -> SecretPlace:
    return SecretPlace("exchange_client_secret", "secret", str(programme))


CLIENT_SECRET: Final = SecretColumn(client_secret_place, "programme")


def checked_secret(text: str) -> str:
    """Raises `Refused`, whose message has no part of the secret."""
    if not 0 < len(text) <= LONGEST or not text.isascii() or not text.isprintable():
        raise Refused(f"a client's secret is one line of up to {LONGEST} printable ASCII characters")
    return text


class ClientSecrets:
    """Every method raises `Unavailable` while the database is away. A secret is of a client at one server: a programme
    that names another one needs another secret.
    """

    def __init__(self, pool: Pool, secrets: Secrets) -> None:
        self._pool = pool
        self._secrets = secrets

    async def set(
        self, programme: str, secret: str, client: str, by: str, now: datetime, *, also: Also = nothing_else
    ) -> None:
        """In place of the one before. Raises `Refused`."""
        if not self._secrets.encrypts:
            raise Refused("ABACUS_SECRETS_KEY is not set: clients' secrets are kept encrypted only")
        stored = await self._secrets.to_store(checked_secret(secret), client_secret_place(programme))
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_SET(programme=programme, secret=stored, client=client, now=now, by=by))
            await also(connection)

    async def of(self, programme: str, client: str) -> str:
        """Raises `Unavailable`, also where there is none that can be read, or only one of another client."""
        async with passing_failures():
            row = await self._pool.fetchrow(*_STORED(programme=programme))
        if row is None:
            raise Unavailable(_DEPENDENCY, f"the client's secret of {programme} was never set")
        if row["client"] != client:
            raise Unavailable(_DEPENDENCY, f"the client's secret of {programme} is of {row['client']}; set it anew")
        try:
            return await self._secrets.read(row["secret"], client_secret_place(programme))
        except SecretUnreadable as fault:
            raise Unavailable(_DEPENDENCY, str(fault)) from None
