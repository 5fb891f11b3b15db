"""Signs requests and checks signatures. Pure.

A signature is `v1=` and the HMAC-SHA256, in hexadecimal, of four lines: method, path with query, SHA-256 of the body in
hexadecimal, and the timestamp in seconds.
"""

import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.errors import AbacusError

TIMESTAMP_HEADER: Final = "Abacus-Timestamp"
SIGNATURE_HEADER: Final = "Abacus-Signature"
_VERSION: Final = "v1="
_TOLERANCE: Final = timedelta(minutes=5)


class BadSignature(AbacusError):
    """The signature of a request is missing or wrong; the message names the fault and reveals no secret."""


def sign(secret: str, method: str, path: str, body: bytes, timestamp: int) -> str:
    text = "\n".join((method.upper(), path, hashlib.sha256(body).hexdigest(), str(timestamp)))
    return _VERSION + hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


class SignedRequest(NamedTuple):
    """The signed parts of a request, and its two headers as received."""

    method: str
    path: str
    body: bytes
    timestamp: str | None
    signature: str | None


def check_signature(secret: str, request: SignedRequest, now: datetime) -> None:
    """Raises `BadSignature`."""
    timestamp, signature = request.timestamp, request.signature
    if timestamp is None or signature is None:
        raise BadSignature(f"this partner signs its requests: {TIMESTAMP_HEADER} and {SIGNATURE_HEADER} are needed")
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < len("100000000000")):
        raise BadSignature(f"{TIMESTAMP_HEADER} is not a time in whole seconds since 1970")
    if abs(now.timestamp() - int(timestamp)) > _TOLERANCE.total_seconds():
        raise BadSignature(f"{TIMESTAMP_HEADER} is more than 5 minutes away from the server's time")
    expected = sign(secret, request.method, request.path, request.body, int(timestamp))
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise BadSignature(f"{SIGNATURE_HEADER} does not fit the method, path, body and timestamp of this request")
