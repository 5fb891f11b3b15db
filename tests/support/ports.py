"""Ports of this machine that nobody listens on."""

from contextlib import ExitStack

from abacus.cli.house.free_ports import on_any_port


def free_port() -> int:
    (port,) = free_ports(1)
    return port


def free_ports(number: int) -> list[int]:
    """So many different ports: they are held together, and then let go."""
    with ExitStack() as held:
        listeners = [held.enter_context(on_any_port("127.0.0.1")) for _ in range(number)]
        return [int(each.getsockname()[1]) for each in listeners]
