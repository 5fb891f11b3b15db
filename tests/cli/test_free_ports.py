"""A port that is free for anybody is not one that an outgoing connection may be given meanwhile."""

import socket

import pytest

from abacus.cli.house import free_ports
from abacus.cli.house.free_ports import on_any_port


def test_a_port_lies_below_those_of_outgoing_connections() -> None:
    with on_any_port("127.0.0.1") as listener, socket.create_connection(listener.getsockname()) as outgoing:
        assert 20_000 <= listener.getsockname()[1] < outgoing.getsockname()[1]


def test_where_all_ports_are_given_any_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_ports, "_LOWEST", 65_535)
    with on_any_port("127.0.0.1") as listener:
        assert listener.getsockname()[1] > 0


def test_a_host_of_another_machine_is_refused() -> None:
    with pytest.raises(OSError, match="assign"):
        on_any_port("192.0.2.1")
