"""Tokens that prove who calls: a start that says what they are, twelve characters for looking them up, and 43 secret
ones (256 bits). Only a digest is kept. Pure but for the random characters of a new one.
"""

import hashlib
import hmac
import secrets
from typing import Final, NamedTuple

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NAME_LENGTH: Final = 12
_SECRET_LENGTH: Final = 43  # 62 ** 43 is just above 2 ** 256


class NewToken(NamedTuple):
    """A new token. `text` is shown once and kept nowhere."""

    text: str
    prefix: str
    digest: bytes


class TokenForm(NamedTuple):
    """One kind of token, told by its start."""

    start: str

    def new(self) -> NewToken:
        text = self.start + _random_text(_NAME_LENGTH + _SECRET_LENGTH)
        return NewToken(text, self.prefix_of(text), digest_of(text))

    def fits(self, text: str) -> bool:
        """Whether the text could be such a token."""
        rest = text.removeprefix(self.start)
        is_long_enough = len(text) - len(rest) == len(self.start) and len(rest) == _NAME_LENGTH + _SECRET_LENGTH
        return is_long_enough and rest.isascii() and rest.isalnum()

    def prefix_of(self, text: str) -> str:
        """The part of a token for lookups and lists; it tells nothing about the secret part."""
        return text[: len(self.start) + _NAME_LENGTH]


PERSON_TOKEN: Final = TokenForm("abp_")


def digest_of(text: str) -> bytes:
    """A plain digest is enough: a token is random, so nobody can guess it from its digest."""
    return hashlib.sha256(text.encode()).digest()


def has_digest(text: str, digest: bytes) -> bool:
    return hmac.compare_digest(digest_of(text), digest)


def new_secret_text() -> str:
    """256 random bits as letters and digits."""
    return _random_text(_SECRET_LENGTH)


def _random_text(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
