"""The ports of a house on this machine: the usual ports, or others where they are taken."""

import errno
import os
import socket
from contextlib import ExitStack
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


def _is_chosen(config: Settings, name: str) -> bool:
    return name in config.model_fields_set and bool(getattr(config, name))


def _listener(config: Settings, name: str) -> socket.socket:
    host, port = getattr(config, _LISTENERS[name]), getattr(config, name) or 0
    try:
        return socket.create_server((host, port))
    except OSError as error:
        if _is_chosen(config, name) and error.errno in _OF_THE_PORT:
            setting = f"{PREFIX}{name.upper()}"
            remedy = f"choose another {setting}, or leave it out for a free port"
            raise Refused(f"{setting}: cannot listen on {host}:{port}: {os.strerror(error.errno)}; {remedy}") from None
    try:
        return socket.create_server((host, 0))
    except OSError:
        raise Refused(f"{PREFIX}{_LISTENERS[name].upper()}: {host!r} is no address of this machine") from None
