"""Signed messages, as Standard Webhooks 1.0 says: `v1,` and the HMAC-SHA256, in base64, of id, time and body. Pure."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import AbacusError
from abacus.core.webhook_secret import PREFIX

_SECRET_BYTES: Final = 32  # the standard asks for 24 to 64
_TOLERANCE_S: Final = 300
_LONGEST_TIMESTAMP: Final = 11
_MOST_SIGNATURES: Final = 10


class BadSignature(AbacusError):
    """The signature of a message is missing, wrong or too old; the message reveals no secret."""


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = b"%b.%d.%b" % (message_id.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def signed_headers(secrets_: Sequence[str], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """One signature for each valid secret: there are two while a secret is replaced."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(sign(secret, message_id, timestamp, body) for secret in secrets_),
    }


class Signed(NamedTuple):
    """What the headers of a message say of its signature."""

    message_id: str
    timestamp: int
    signatures: str


def signed_in(headers: Mapping[str, str], now_s: float) -> Signed:
    """The names of headers are in small letters. Raises `BadSignature` where one is missing, or its time is over."""
    message_id, timestamp = headers.get("webhook-id"), headers.get("webhook-timestamp")
    signatures = headers.get("webhook-signature")
    if not message_id or not timestamp or not signatures:
        raise BadSignature("webhook-id, webhook-timestamp and webhook-signature are needed")
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= _LONGEST_TIMESTAMP):
        raise BadSignature("webhook-timestamp is not a time in whole seconds since 1970")
    if abs(now_s - int(timestamp)) > _TOLERANCE_S:
        raise BadSignature("webhook-timestamp is more than 5 minutes away from the receiver's time")
    return Signed(message_id, int(timestamp), signatures)


def check_signature(secrets_: Sequence[str], headers: Mapping[str, str], body: bytes, now_s: float) -> None:
    """The names of headers are in small letters. Raises `BadSignature`."""
    check_signed(secrets_, signed_in(headers, now_s), body)


def check_signed(secrets_: Sequence[str], signed: Signed, body: bytes) -> None:
    """Raises `BadSignature`."""
    expected = [sign(secret, signed.message_id, signed.timestamp, body).encode() for secret in secrets_]
    given = signed.signatures.encode().split(b" ")[:_MOST_SIGNATURES]
    if not any(hmac.compare_digest(one, other) for one in expected for other in given):
        raise BadSignature("webhook-signature does not fit the id, the timestamp and the body")
