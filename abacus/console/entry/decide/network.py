"""The network of an address, by which attempts are counted. Pure."""

from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

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
