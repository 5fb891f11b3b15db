"""The key under which digests of codes are made: one for the house, which the database holds encrypted."""

import secrets as randomness
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable
from abacus.platform.encryption import SecretPlace, Secrets, SecretUnreadable
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.secret_rotation import SecretColumn
from abacus.platform.sql import Statement

TABLE: Final = "offer_code_batch"  # whose changes are read
_COPY: Final = "codes of offers"
_NAME: Final = "offers"
_KEY_BYTES: Final = 32

_MAKE: Final = Statement("""
insert into offer_code_key (name, digest_key) values (:name, :digest_key) on conflict do nothing
""")
_STORED: Final = Statement("select digest_key from offer_code_key where name = :name")
_READ: Final = Statement("""
select (select digest_key from offer_code_key where name = :name),
    not exists (select from offer_code_batch where not is_checked and withdrawn_at is null)
""")


def _place(name: str) -> SecretPlace:
    return SecretPlace("offer_code_key", "digest_key", name)


CODE_KEYS: Final = SecretColumn(_place, "name")


class _Stored(NamedTuple):
    """The key as it is stored, None before any code was loaded; and whether all codes have the check character."""

    key: str | None
    all_checked: bool


class CodeRules(NamedTuple):
    """How typed codes are looked up: the key of their digests, and whether all codes have the check character."""

    key: bytes | None
    all_checked: bool


class CodeRulesInUse(FreshCopy[CodeRules, CodeRules]):
    """The rules, as each process keeps them."""

    def __init__(self, pool: Pool, secrets: Secrets) -> None:
        self._pool = pool
        self._secrets = secrets
        super().__init__(_COPY, self._load, lambda rules: rules)

    async def _load(self, _: CodeRules | None) -> CodeRules:
        async with passing_failures():
            stored = _Stored(*await self._pool.fetchrow(*_READ(name=_NAME)))
        try:
            key = None if stored.key is None else bytes.fromhex(await self._secrets.read(stored.key, _place(_NAME)))
        except SecretUnreadable as fault:
            raise Unavailable(_COPY, str(fault)) from None
        return CodeRules(key, stored.all_checked)


async def code_key(pool: Pool, secrets: Secrets) -> bytes:
    """The key, made now where there is none. Raises `Refused`, `SecretUnreadable` and `Unavailable`."""
    if not secrets.encrypts:
        raise Refused("ABACUS_SECRETS_KEY is not set: codes are kept as digests under a key that it encrypts")
    place = _place(_NAME)
    made = await secrets.to_store(randomness.token_hex(_KEY_BYTES), place)
    async with passing_failures():
        await pool.execute(*_MAKE(name=_NAME, digest_key=made))
        stored = await pool.fetchval(*_STORED(name=_NAME))
    return bytes.fromhex(await secrets.read(stored, place))
