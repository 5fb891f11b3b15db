"""Secrets at rest: encrypted under a key that the database does not hold, as the text `enc:v1:KEY ID:BASE64`.

Each secret is bound to its place, a column of one row, so that a ciphertext cannot be moved to another partner's row. A
text without the prefix is a secret that was stored before there was a key; it stays readable.
"""

import base64
import os
import re
from typing import Final, NamedTuple, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from abacus.core.errors import AbacusError

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_PREFIX: Final = "enc:v1:"
_KEY_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_SETTING: Final = "ABACUS_SECRETS_KEY"


class CannotDecrypt(AbacusError):
    """The key is not known, or the ciphertext is not of this key and context; the message says which."""


class Encrypted(NamedTuple):
    """A ciphertext, and the id of its key."""

    key_id: str
    ciphertext: bytes


class Cipher(Protocol):
    """A service that holds keys: a setting's, or a KMS. The context is checked, not kept."""

    @property
    def key_id(self) -> str:
        """The key that encrypts."""
        ...

    async def encrypt(self, plaintext: bytes, context: bytes) -> Encrypted: ...

    async def decrypt(self, encrypted: Encrypted, context: bytes) -> bytes:
        """Raises `CannotDecrypt`."""
        ...


class Keyring:
    """AES-256-GCM under keys in memory. The first key encrypts, any decrypts."""

    def __init__(self, keys: dict[str, bytes]) -> None:
        self._keys = {key_id: AESGCM(key) for key_id, key in keys.items()}
        self.key_id = next(iter(keys))

    @classmethod
    def parse(cls, text: str) -> "Keyring":
        """From `ID:BASE64,ID:BASE64…`. Raises `ValueError`, whose message has no part of a key."""
        keys: dict[str, bytes] = {}
        for part in text.split(","):
            key_id, _, encoded = part.strip().partition(":")
            try:
                key = base64.b64decode(encoded, validate=True)
            except ValueError:
                key = b""
            if not _KEY_ID.fullmatch(key_id) or len(key) != _KEY_BYTES or key_id in keys:
                raise ValueError(f"ID:KEY,ID:KEY… is needed: each id once, each KEY {_KEY_BYTES} bytes in base64")
            keys[key_id] = key
        return cls(keys)

    async def encrypt(self, plaintext: bytes, context: bytes) -> Encrypted:
        nonce = os.urandom(_NONCE_BYTES)
        return Encrypted(self.key_id, nonce + self._keys[self.key_id].encrypt(nonce, plaintext, context))

    async def decrypt(self, encrypted: Encrypted, context: bytes) -> bytes:
        key_id, ciphertext = encrypted
        key = self._keys.get(key_id)
        if key is None:
            raise CannotDecrypt(f"{_SETTING} has no key {key_id!r}")
        try:
            return key.decrypt(ciphertext[:_NONCE_BYTES], ciphertext[_NONCE_BYTES:], context)
        except (InvalidTag, ValueError):
            raise CannotDecrypt(f"it was not encrypted for this place under the key {key_id!r} of {_SETTING}") from None


class SecretPlace(NamedTuple):
    """Where a secret is stored."""

    table: str
    column: str
    row: str

    @property
    def context(self) -> bytes:
        return "/".join(self).encode()


class SecretUnreadable(AbacusError):
    """A stored secret cannot be decrypted; the message names its place and the fault."""


class Secrets:
    """Secrets as they are stored: encrypted where there is a cipher, as they are otherwise."""

    def __init__(self, cipher: Cipher | None = None) -> None:
        self._cipher = cipher

    @classmethod
    def of(cls, setting: str | None) -> "Secrets":
        return cls(Keyring.parse(setting) if setting is not None else None)

    @property
    def encrypts(self) -> bool:
        return self._cipher is not None

    def is_current(self, stored: str) -> bool:
        """Whether it would be stored under the same key today."""
        return self._cipher is not None and stored.startswith(f"{_PREFIX}{self._cipher.key_id}:")

    async def to_store(self, secret: str, place: SecretPlace) -> str:
        if self._cipher is None:
            return secret
        key_id, ciphertext = await self._cipher.encrypt(secret.encode(), place.context)
        return f"{_PREFIX}{key_id}:{base64.b64encode(ciphertext).decode()}"

    async def read(self, stored: str, place: SecretPlace) -> str:
        """Raises `SecretUnreadable`."""
        if not stored.startswith(_PREFIX):
            return stored
        try:
            return await self._decrypted(stored.removeprefix(_PREFIX), place)
        except CannotDecrypt as fault:
            raise SecretUnreadable(f"{place.column} of {place.row} ({place.table}) cannot be read: {fault}") from None

    async def _decrypted(self, stored: str, place: SecretPlace) -> str:
        key_id, _, encoded = stored.partition(":")
        if self._cipher is None:
            raise CannotDecrypt(f"{_SETTING} is not set; it needs the key {key_id!r}")
        try:
            encrypted = Encrypted(key_id, base64.b64decode(encoded, validate=True))
        except ValueError:
            raise CannotDecrypt("it is damaged") from None
        return (await self._cipher.decrypt(encrypted, place.context)).decode()


def new_keyring_text(key_id: str) -> str:
    """A setting with one new key."""
    return f"{key_id}:{base64.b64encode(os.urandom(_KEY_BYTES)).decode()}"
