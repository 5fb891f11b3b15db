"""The open connections of a server: how many there are, from where, and which have taken too long."""

import asyncio
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import Final, Protocol

from abacus.api.http.limits import HttpLimits
from abacus.api.metrics import API_CONNECTIONS, API_REFUSED

_LOOK_EVERY_S: Final = 0.25
_OF_ONE_SITE: Final = 64  # bits of an IPv6 address: one caller has all addresses that begin with them


class Connection(Protocol):
    """An open connection."""

    def end_if_overdue(self, now: float) -> None: ...


class Crowd:
    """All connections of one server."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._sites: dict[Connection, str] = {}
        self._of_site: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._sites)

    def admit(self, connection: Connection, address: str) -> bool:
        """Whether there is room for one more, and for one more from there."""
        site = _site_of(address)
        if 0 < self._limits.connections <= len(self._sites):
            API_REFUSED.labels("connections").inc()
            return False
        if 0 < self._limits.connections_per_address <= self._of_site[site]:
            API_REFUSED.labels("connections_of_address").inc()
            return False
        self._sites[connection] = site
        self._of_site[site] += 1
        API_CONNECTIONS.inc()
        return True

    def leave(self, connection: Connection) -> None:
        """Also for a connection that was not admitted."""
        site = self._sites.pop(connection, None)
        if site is not None:
            API_CONNECTIONS.dec()
            self._of_site[site] -= 1
            if not self._of_site[site]:
                del self._of_site[site]

    async def keep_time(self, monotonic: Callable[[], float]) -> None:
        """Runs until cancelled: ends the connections that take too long. To look at all of them costs less than a timer
        for each request.
        """
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            now = monotonic()
            for connection in list(self._sites):
                connection.end_if_overdue(now)


def _site_of(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return str(IPv6Address(int(parsed) >> _OF_ONE_SITE << _OF_ONE_SITE))
    return address
