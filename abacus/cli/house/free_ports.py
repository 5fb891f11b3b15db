"""The ports of a house on this machine: the usual ports, or others where they are taken."""

import errno
import os
import random
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from abacus.core.errors import Refused
from abacus.platform.settings import PREFIX, Settings

# Everything that listens, by the setting of its port, and the setting of its host.
_LISTENERS: Final = {
    "api_port": "api_host",
    "counts_port": "counts_host",
    "offers_port": "offers_host",
    "places_port": "places_host",
    "console_port": "console_host",
    "health_port": "api_host",
}
# Linux says here which ports outgoing connections are given; the first number is the lowest.
_GIVEN: Final = Path("/proc/sys/net/ipv4/ip_local_port_range")
_GIVEN_FROM: Final = 32_768
_LOWEST: Final = 20_000
_TRIES: Final = 50
_RNG: Final = random.SystemRandom()
_OF_THE_PORT: Final = (errno.EADDRINUSE, errno.EACCES)  # taken, or for root alone


def on_free_ports(config: Settings) -> Settings:
    """The settings with a port for everything that listens: the chosen one, else the usual one if it is free, else any.

    Raises `Refused` when a chosen port is taken, or a host is not this machine's.
    """
    ports = dict[str, int]()
    with ExitStack() as held:  # together, so that no two get the same port
        for name in sorted(_LISTENERS, key=lambda each: not _is_chosen(config, each)):
            listener = held.enter_context(_listener(config, name))
            ports[name] = int(listener.getsockname()[1])
    return config.model_copy(update=ports)


def on_any_port(host: str) -> socket.socket:
    """Listens on a port that no outgoing connection is given: it is still free when it was let go a moment ago. Raises
    `OSError` where the host is not this machine's.
    """
    given_from = _GIVEN_FROM
    with suppress(OSError, ValueError):
        given_from = int(_GIVEN.read_text().split()[0])
    for _ in range(_TRIES if given_from > _LOWEST else 0):
        with suppress(OSError):
            return socket.create_server((host, _RNG.randrange(_LOWEST, given_from)))
    return socket.create_server((host, 0))


def _is_chosen(config: Settings, name: str) -> bool:
    return name in config.model_fields_set and bool(getattr(config, name))


def _listener(config: Settings, name: str) -> socket.socket:
    host, port = getattr(config, _LISTENERS[name]), getattr(config, name)
    try:
        return socket.create_server((host, port)) if port else on_any_port(host)
    except OSError as error:
        if _is_chosen(config, name) and error.errno in _OF_THE_PORT:
            setting = f"{PREFIX}{name.upper()}"
            remedy = f"choose another {setting}, or leave it out for a free port"
            raise Refused(f"{setting}: cannot listen on {host}:{port}: {os.strerror(error.errno)}; {remedy}") from None
    try:
        return on_any_port(host)
    except OSError:
        raise Refused(f"{PREFIX}{_LISTENERS[name].upper()}: {host!r} is no address of this machine") from None
