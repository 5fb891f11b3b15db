"""Signs requests in the form that the API checks. Pure.

A signature is `v2=` and the HMAC-SHA256, in hexadecimal, of five lines: method, path with query, Idempotency-Key (an
empty line for a request without one), SHA-256 of the body in hexadecimal, and the timestamp in seconds.
"""

import hashlib
import hmac
from typing import Final

TIMESTAMP_HEADER: Final = "Abacus-Timestamp"
SIGNATURE_HEADER: Final = "Abacus-Signature"


def sign(secret: str, method: str, path: str, body: bytes, *, key: str, timestamp: int) -> str:
    text = "\n".join((method.upper(), path, key, hashlib.sha256(body).hexdigest(), str(timestamp)))
    return "v2=" + hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
