"""Signs requests and checks signatures. Pure.

A signature is `v2=` and the HMAC-SHA256, in hexadecimal, of five lines: method, path with query, Idempotency-Key (an
empty line for a request without one), SHA-256 of the body in hexadecimal, and the timestamp in seconds.
"""

import hashlib
import hmac
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.errors import AbacusError

TIMESTAMP_HEADER: Final = "Abacus-Timestamp"
SIGNATURE_HEADER: Final = "Abacus-Signature"
_KEY_HEADER: Final = "Idempotency-Key"
_VERSION: Final = "v2="
_TOLERANCE: Final = timedelta(minutes=5)
_SECTION: Final = "docs/partners/partners.md#signed-requests"
_BEFORE_KEYS: Final = "v1="  # signatures of this version left the Idempotency-Key out


class BadSignature(AbacusError):
    """The signature of a request is missing or wrong; the message names the fault and reveals no secret."""


def sign(secret: str, method: str, path: str, body: bytes, *, key: str, timestamp: int) -> str:
    """The signature of a request; `key` is its Idempotency-Key, empty where it has none."""
    text = "\n".join((method.upper(), path, key, hashlib.sha256(body).hexdigest(), str(timestamp)))
    return _VERSION + hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()


class SignedRequest(NamedTuple):
    """The signed parts of a request, and the two headers of its signature as received."""

    method: str
    path: str
    idempotency_key: str
    body: bytes
    timestamp: str | None
    signature: str | None

    @classmethod
    def of(cls, method: str, path: str, body: bytes, headers: Sequence[tuple[str, str]]) -> "SignedRequest":
        """From the headers as they came, their names in small letters. Raises `BadSignature` where a header that
        matters comes twice: readers could take one each.
        """
        single: dict[str, str] = {}
        for header in (_KEY_HEADER, TIMESTAMP_HEADER, SIGNATURE_HEADER):
            values = [value for name, value in headers if name == header.lower()]
            if len(values) > 1:
                raise BadSignature(f"{header} is given {len(values)} times; a signed request has it once")
            if values:
                single[header] = values[0]
        return cls(
            method=method,
            path=path,
            idempotency_key=single.get(_KEY_HEADER, ""),
            body=body,
            timestamp=single.get(TIMESTAMP_HEADER),
            signature=single.get(SIGNATURE_HEADER),
        )


def check_signature(secret: str, request: SignedRequest, now: datetime) -> None:
    """Raises `BadSignature`."""
    timestamp, signature = request.timestamp, request.signature
    if timestamp is None or signature is None:
        raise BadSignature(f"this partner signs its requests: {TIMESTAMP_HEADER} and {SIGNATURE_HEADER} are needed")
    if signature.startswith(_BEFORE_KEYS):
        raise BadSignature(
            f"{_BEFORE_KEYS} signatures are not taken any more: sign five lines instead of four, with the"
            f" {_KEY_HEADER} (or an empty line) between path and body, and send {_VERSION}; {_SECTION} shows how"
        )
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < len("100000000000")):
        raise BadSignature(f"{TIMESTAMP_HEADER} is not a time in whole seconds since 1970")
    if abs(now.timestamp() - int(timestamp)) > _TOLERANCE.total_seconds():
        raise BadSignature(f"{TIMESTAMP_HEADER} is more than 5 minutes away from the server's time")
    key, seconds = request.idempotency_key, int(timestamp)
    expected = sign(secret, request.method, request.path, request.body, key=key, timestamp=seconds)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise BadSignature(
            f"{SIGNATURE_HEADER} does not fit the method, path, {_KEY_HEADER}, body and timestamp of this request"
        )
