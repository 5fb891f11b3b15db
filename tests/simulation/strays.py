"""Bodies on the queues that none of our workers put there."""

from datetime import UTC, date, datetime
from typing import Final, NamedTuple

import orjson

from abacus.core.errors import Reason
from abacus.platform.quarantine.types import Stage
from tests.simulation.oracle import Earns


class Stray(NamedTuple):
    """A body on a queue, and the item that it must come to."""

    queue: str
    body: str
    stage: Stage
    reason: Reason
    set_aside: bytes


# The good neighbour of a bad award in one envelope, and its fingerprint.
NEIGHBOUR: Final = Earns(
    "api:acme:1",
    ("a partner's award",),
    ("ann", "GRP"),
    "SG",
    frozenset({100}),
    datetime(2026, 3, 1, tzinfo=UTC),
    date(2026, 9, 30),
)
NEIGHBOURS_FINGERPRINT: Final = "ab" * 16

_NEIGHBOUR: Final = {
    "key": NEIGHBOUR.key,
    "member_id": NEIGHBOUR.account[0],
    "program": NEIGHBOUR.account[1],
    "country": NEIGHBOUR.country,
    "kind": "earn",
    "points": 100,
    "occurred_at": NEIGHBOUR.occurred_at,
    "expires_on": NEIGHBOUR.expires_on,
    "activity": True,
    "fingerprint": NEIGHBOURS_FINGERPRINT,
    "explanation": {"fixed": "booking.cancelled_by_driver", "card": "SG@1", "points": 100},
}
_BAD_AWARD: Final = {"key": "api:acme:2", "points": -1}


def _stray(queue: str, body: str, reason: Reason) -> Stray:
    return Stray(queue, body, Stage.ENVELOPE, reason, body.encode())


STRAYS: Final = (
    _stray("award queue", "no envelope at all", Reason.UNDECODABLE),
    _stray("award queue", '{"v":1}', Reason.INVALID),
    _stray("award queue", '{"v":2,"awards":[]}', Reason.UNSUPPORTED),
    _stray("retry queue", "no envelope either", Reason.UNDECODABLE),
    _stray("retry queue", '{"v":2,"retries":[]}', Reason.UNSUPPORTED),
    _stray("retry queue", '{"v":1,"retries":[{"transaction":"{}"}]}', Reason.INVALID),
    Stray(
        "award queue",
        orjson.dumps({"v": 1, "awards": [_BAD_AWARD, _NEIGHBOUR]}).decode(),
        Stage.AWARD,
        Reason.INVALID,
        orjson.dumps(_BAD_AWARD),
    ),
)
