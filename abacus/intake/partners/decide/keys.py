"""API keys: `abk_live_` or, for the sandbox, `abk_test_`; then twelve characters for looking the key up, and 43 secret
ones (256 bits). Pure.
"""

import hashlib
import hmac
import re
import secrets
from typing import Final, NamedTuple

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LIVE: Final = "abk_live_"
_TEST: Final = "abk_test_"
_NAME_LENGTH: Final = 12
_SECRET_LENGTH: Final = 43  # 62 ** 43 is just above 2 ** 256
_KEY: Final = re.compile(rf"(?:{_LIVE}|{_TEST})[0-9A-Za-z]{{{_NAME_LENGTH + _SECRET_LENGTH}}}")


class NewKey(NamedTuple):
    """A new key. `text` is shown once and kept nowhere."""

    text: str
    prefix: str
    digest: bytes


def new_key() -> NewKey:
    return _new(_LIVE)


def new_test_key() -> NewKey:
    """A key for the sandbox."""
    return _new(_TEST)


def is_test_key(text: str) -> bool:
    return text.startswith(_TEST)


def new_signing_secret() -> str:
    return f"abs_{_random(_SECRET_LENGTH)}"


def looks_like_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def prefix_of(text: str) -> str:
    """The part of a key for lookups and lists; it tells nothing about the secret part."""
    return text[: len(_LIVE) + _NAME_LENGTH]  # both beginnings are as long


def digest_of(text: str) -> bytes:
    """A plain digest is enough: a key is random, so nobody can guess it from its digest."""
    return hashlib.sha256(text.encode()).digest()


def is_key(text: str, digest: bytes) -> bool:
    return hmac.compare_digest(digest_of(text), digest)


def _new(start: str) -> NewKey:
    text = start + _random(_NAME_LENGTH + _SECRET_LENGTH)
    return NewKey(text, prefix_of(text), digest_of(text))


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
