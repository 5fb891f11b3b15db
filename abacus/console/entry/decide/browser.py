"""A browser on its way in: its network, the page that it is sent to, and values that follow from its token. Pure."""

import base64
import hashlib
import hmac
import re
from enum import StrEnum
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final


class Use(StrEnum):
    """What a value is for; no two are the same."""

    FORM = "form"  # stands in each form, so that no other site can send one
    STATE = "state"  # the three that a provider of identities sends back, or checks
    NONCE = "nonce"
    VERIFIER = "verifier"
    SAID = "said"  # what was done, which the browser keeps for the page after it


def derived(token: str, use: Use) -> str:
    value = hmac.digest(token.encode(), f"abacus console {use}".encode(), hashlib.sha256)
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def fits(given: str | None, token: str, use: Use) -> bool:
    return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), derived(token, use).encode())


def sealed(text: str, token: str, use: Use) -> str:
    """The text for the browser to keep; nobody without the token can write another."""
    kept = base64.urlsafe_b64encode(text.encode()).decode()
    return f"{kept}.{_mark(kept, token, use)}"


def unsealed(kept: str, token: str, use: Use) -> str | None:
    """The text as it was sealed; None for anything else."""
    text, _, mark = kept.partition(".")
    fits_ = hmac.compare_digest(mark.encode("utf-8", "replace"), _mark(text, token, use).encode())
    return base64.urlsafe_b64decode(text).decode() if fits_ else None


def _mark(text: str, token: str, use: Use) -> str:
    return hmac.digest(derived(token, use).encode(), text.encode("utf-8", "replace"), hashlib.sha256).hex()


_OF_ONE: Final = 64  # bits: a subscriber has all addresses of such a network


def network_of(address: str) -> str:
    """An IPv6 address stands for its network, any other for itself."""
    try:
        known = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, IPv6Address):
        return str(known.ipv4_mapped or ip_network((known, _OF_ONE), strict=False))
    return str(known)


HOME: Final = "/"
# No second slash and no backslash, which browsers take for one: either would name another host. No control characters.
_LOCAL: Final = re.compile(r"/(?![/\\])[!-\[\]-~]{0,1999}")


def local_path(text: str | None) -> str:
    """The path if it is one of ours, or else the first page."""
    return text if text is not None and _LOCAL.fullmatch(text) else HOME
