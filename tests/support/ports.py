"""Ports of this machine that nobody listens on."""

import socket
from contextlib import ExitStack


def free_port() -> int:
    (port,) = free_ports(1)
    return port


def free_ports(number: int) -> list[int]:
    """So many different ports: they are held together, and then let go."""
    with ExitStack() as held:
        listeners = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [int(each.getsockname()[1]) for each in listeners]
