"""An event on the retry queue keeps what it is decided by."""

from datetime import UTC, datetime

import pytest

from abacus.engage.campaigns.decide.deferred import Deferred, decode_deferred, encode_deferred
from abacus.signals.events.types import Position


@pytest.mark.parametrize("position", [None, Position("rides", 3, 17)])
def test_the_position_of_an_event_travels_with_it(position: Position | None) -> None:
    waiting = Deferred(
        b'{"id":"1"}', "kafka:events/deferred/1", ("market",), 1, datetime(2026, 3, 2, tzinfo=UTC), "away"
    )
    waiting = waiting._replace(position=position)
    body = b'{"v":1,"events":[%b]}' % encode_deferred(waiting)
    assert list(decode_deferred(body.decode())) == [waiting]
    older = body.replace(b',"position":null', b"")
    assert list(decode_deferred(older.decode())) == [waiting]
