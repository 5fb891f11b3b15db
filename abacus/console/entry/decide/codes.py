"""Codes of an authenticator (TOTP, RFC 6238): six digits for each half minute. Pure."""

import base64
from datetime import datetime
from typing import Final

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor import InvalidToken
from cryptography.hazmat.primitives.twofactor.totp import TOTP

SECRET_BYTES: Final = 20
_DIGITS: Final = 6
_STEP_S: Final = 30
_STEPS: Final = (0, -1, 1)  # clocks differ
_ISSUER: Final = "Abacus"


def step_of(code: str, secret: bytes, now: datetime) -> int | None:
    """The half minute, around now, whose code this is; None for a wrong code. Each may be used once."""
    digits = "".join(code.split())
    if len(digits) != _DIGITS or not (digits.isascii() and digits.isdecimal()):
        return None
    current = int(now.timestamp()) // _STEP_S
    for step in (current + each for each in _STEPS):
        try:
            _totp(secret).verify(digits.encode(), step * _STEP_S)
        except InvalidToken:
            continue
        return step
    return None


def code_at(secret: bytes, now: datetime) -> str:
    return _totp(secret).generate(int(now.timestamp())).decode()


def enrolment_uri(secret: bytes, person_id: str) -> str:
    """The address that an authenticator reads, as text or from a picture."""
    return _totp(secret).get_provisioning_uri(person_id, _ISSUER)


def text_of(secret: bytes) -> str:
    return base64.b32encode(secret).decode()


def bytes_of(text: str) -> bytes:
    return base64.b32decode(text)


def _totp(secret: bytes) -> TOTP:
    return TOTP(secret, _DIGITS, SHA1(), _STEP_S)  # noqa: S303  # what authenticators speak; HMAC-SHA-1 is sound
