"""Signs requests in the form that the API checks. Pure.

A signature is `v1=` and the HMAC-SHA256, in hexadecimal, of four lines: method, path with query, SHA-256 of the body in
hexadecimal, and the timestamp in seconds.
"""

import hashlib
import hmac
from typing import Final

TIMESTAMP_HEADER: Final = "Abacus-Timestamp"
SIGNATURE_HEADER: Final = "Abacus-Signature"


def sign(secret: str, method: str, path: str, body: bytes, timestamp: int) -> str:
    text = "\n".join((method.upper(), path, hashlib.sha256(body).hexdigest(), str(timestamp)))
    return "v1=" + hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
