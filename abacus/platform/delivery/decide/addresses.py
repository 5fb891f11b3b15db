"""Decides which addresses may be posted to: those of the public internet, and none of ours. Pure."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

from abacus.core.errors import Refused

_UNLESS: Final = "unless ABACUS_WEBHOOKS_TO_PRIVATE is true"  # the setting behind `to_private`

_LONGEST: Final = 2000
_LAST_PORT: Final = 65535

# Python calls these global, or does so in some versions; no receiver of ours is there.
_NOT_PUBLIC: Final = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments
    IPv4Network("192.88.99.0/24"),  # relays from IPv6, given up
)
_V6_PUBLIC: Final = IPv6Network("2000::/3")  # all that is handed out; local, link-local and multicast lie outside
_V6_NOT_PUBLIC: Final = (
    IPv6Network("2001::/23"),  # protocol assignments; Teredo carries an IPv4 address
    IPv6Network("2001:db8::/32"),  # for documents
    IPv6Network("2002::/16"),  # 6to4 carries an IPv4 address
    IPv6Network("3fff::/20"),  # for documents
)
_NAT64: Final = IPv6Network("64:ff9b::/96")  # how a network without IPv4 reaches an IPv4 address


def is_public(address: str) -> bool:
    """Whether the text is an address of the public internet."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    return _is_public_v4(parsed) if isinstance(parsed, IPv4Address) else _is_public_v6(parsed)


def _is_public_v4(address: IPv4Address) -> bool:
    special = address.is_multicast or address.is_reserved or any(address in network for network in _NOT_PUBLIC)
    return address.is_global and not special


def _is_public_v6(address: IPv6Address) -> bool:
    if address in _NAT64:
        return _is_public_v4(IPv4Address(address.packed[-4:]))
    return address in _V6_PUBLIC and not any(address in network for network in _V6_NOT_PUBLIC)


def checked_url(url: str, *, to_private: bool) -> str:
    """Raises `Refused` for a URL that no message can or may be sent to. The address of a host name is not checked here
    but at each sending.
    """
    if len(url) > _LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        raise Refused(f"{url[:80]!r}: an address has up to {_LONGEST} printable ASCII characters and no spaces")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused(f"{url!r}: {error}") from None
    if parts.scheme == "http" and not to_private:
        raise Refused(f"{url!r}: an address of the form https://host/path is needed, {_UNLESS}")
    if parts.scheme not in {"http", "https"}:
        raise Refused(f"{url!r}: an address of the form https://host/path is needed")
    if not parts.hostname or (port is not None and not 0 < port <= _LAST_PORT):
        raise Refused(f"{url!r}: an address of the form https://host/path is needed")
    if parts.username is not None or parts.fragment:
        raise Refused(f"{url!r}: leave out user, password and what follows a #; the signature proves the sender")
    if not to_private and _is_address(parts.hostname) and not is_public(parts.hostname):
        raise Refused(f"{url!r}: {parts.hostname} is not an address of the public internet, which is needed {_UNLESS}")
    return url


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
