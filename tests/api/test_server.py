"""The socket that the API listens on."""

import socket

from abacus.api.server import bound


def test_an_answers_body_does_not_wait_until_its_head_is_acknowledged() -> None:
    with bound("127.0.0.1", 0, "a setting") as listener, socket.create_connection(listener.getsockname()):
        taken, _ = listener.accept()
        with taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
