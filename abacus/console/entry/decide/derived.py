"""Values that follow from the token of a browser, and that nobody can know without it. Pure."""

import base64
import hashlib
import hmac
from enum import StrEnum


class Use(StrEnum):
    """What a value is for; no two are the same."""

    FORM = "form"  # stands in each form, so that no other site can send one
    STATE = "state"  # the three that a provider of identities sends back, or checks
    NONCE = "nonce"
    VERIFIER = "verifier"


def derived(token: str, use: Use) -> str:
    value = hmac.digest(token.encode(), f"abacus console {use}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def fits(given: str | None, token: str, use: Use) -> bool:
    return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), derived(token, use).encode())
