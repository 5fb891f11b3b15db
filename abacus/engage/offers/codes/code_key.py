"""The key under which digests of codes are made: one for the house, which the database holds encrypted."""

from typing import Final, NamedTuple

from abacus.core.errors import Unavailable
from abacus.platform.digest_keys import DigestKeys
from abacus.platform.encryption import Secrets, SecretUnreadable
from abacus.platform.fresh_copy import FreshCopy
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

TABLE: Final = "offer_code_batch"  # whose changes are read
_COPY: Final = "codes of offers"
_NAME: Final = "offers"
_KEYS: Final = DigestKeys("offer_code_key", "codes")

_READ: Final = Statement("""
select (select digest_key from offer_code_key where name = :name),
    not exists (select from offer_code_batch where not is_checked and withdrawn_at is null)
""")


CODE_KEYS: Final = _KEYS.column


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
            read = None if stored.key is None else await self._secrets.read(stored.key, _KEYS.place(_NAME))
        except SecretUnreadable as fault:
            raise Unavailable(_COPY, str(fault)) from None
        return CodeRules(None if read is None else bytes.fromhex(read), stored.all_checked)


async def code_key(pool: Pool, secrets: Secrets) -> bytes:
    """The key, made now where there is none. Raises `Refused`, `SecretUnreadable` and `Unavailable`."""
    return await _KEYS.key(pool, secrets, _NAME)
