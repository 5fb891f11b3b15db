"""Keys under which digests are made: random, made once for the house, and held by the database only encrypted.

When secrets are rotated the key itself is encrypted anew, so the digests stay as they are.
"""

import secrets as randomness
from typing import Final

from abacus.core.errors import Refused
from abacus.platform.encryption import SecretPlace, Secrets
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.secret_rotation import SecretColumn
from abacus.platform.sql import Statement

_KEY_BYTES: Final = 32


class DigestKeys:
    """The keys of a table with the columns `name` and `digest_key`. `of` says what the digests are of."""

    def __init__(self, table: str, of: str) -> None:
        self._table = table
        self._of = of
        self._make = Statement(
            f"insert into {table} (name, digest_key) values (:name, :digest_key) on conflict do nothing"
        )
        self._stored = Statement(f"select digest_key from {table} where name = :name")

    def place(self, name: str) -> SecretPlace:
        return SecretPlace(self._table, "digest_key", name)

    @property
    def column(self) -> SecretColumn:
        """For the rotation of secrets."""
        return SecretColumn(self.place, "name")

    async def key(self, pool: Pool, secrets: Secrets, name: str) -> bytes:
        """The key, made now where there is none. Raises `Refused`, `SecretUnreadable` and `Unavailable`."""
        if not secrets.encrypts:
            raise Refused(f"ABACUS_SECRETS_KEY is not set: {self._of} are kept as digests under a key that it encrypts")
        async with passing_failures():
            stored = await pool.fetchval(*self._stored(name=name))
        if stored is None:
            made = await secrets.to_store(randomness.token_hex(_KEY_BYTES), self.place(name))
            async with passing_failures():
                await pool.execute(*self._make(name=name, digest_key=made))
                stored = await pool.fetchval(*self._stored(name=name))
        return bytes.fromhex(await secrets.read(stored, self.place(name)))
