"""The ports of a house on this machine: the usual ones, or others where those are taken."""

import socket

from abacus.platform.settings import Settings


def on_free_ports(config: Settings) -> Settings:
    """The settings with a port for everything that listens."""
    return config.model_copy(
        update={
            "api_port": _port(config, config.api_host, "api_port"),
            "counts_port": _port(config, config.counts_host, "counts_port"),
            "console_port": _port(config, config.console_host, "console_port"),
            "health_port": config.health_port or _free_port(config.api_host),
        }
    )


def _port(config: Settings, host: str, setting: str) -> int:
    """The port to listen on: a free one if the usual port is taken and nobody chose it."""
    usual: int = getattr(config, setting)
    chosen = setting in config.model_fields_set and usual != 0
    for port in (usual, 0):
        try:
            return _free_port(host, port)
        except OSError:
            if chosen:
                break
    return usual


def _free_port(host: str, port: int = 0) -> int:
    """The port, or for 0 any one, that nobody listens on. Raises `OSError` when somebody does."""
    with socket.create_server((host, port)) as free:
        return int(free.getsockname()[1])
