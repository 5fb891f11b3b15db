"""Bodies on the queues that none of our workers put there."""

from datetime import UTC, date, datetime
from typing import Final, NamedTuple

import orjson

from abacus.core.errors import Reason
from abacus.ledger.types.award_envelope import Award, encode_award
from abacus.ledger.types.kinds import TransferKind
from abacus.platform.quarantine.types import Stage
from abacus.platform.sqs.packer import pack
from tests.reliability.simulation.oracle import Earns


class Stray(NamedTuple):
    """A body on a queue, and the item that it must come to."""

    queue: str
    body: str
    stage: Stage
    reason: Reason
    set_aside: bytes
    read_as: str = ""  # the origin of what could be read; that of the rest is the queue


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
_FORGED: Final = Award(
    key="txn:meals:VICTIM-1",
    member_id="eve",
    program="GRP",
    country="SG",
    kind=TransferKind.EARN,
    points=10**6,
    occurred_at=NEIGHBOUR.occurred_at,
    expires_on=NEIGHBOUR.expires_on,
    activity=True,
    fingerprint=NEIGHBOURS_FINGERPRINT,
    explanation=b'{"v":1}',
    source="stream",
)
_BAD_AWARD: Final = {"key": "api:acme:2", "points": -1}


def _stray(queue: str, body: str, reason: Reason) -> Stray:
    return Stray(queue, body, Stage.ENVELOPE, reason, body.encode())


def _forged(reason: Reason, **changed: object) -> Stray:
    """What anybody may send who may send a message."""
    award = _FORGED._replace(**changed)  # type: ignore[arg-type]  # of the fields' types
    body = encode_award(award)
    return Stray("award queue", next(pack("awards", [body])), Stage.AWARD, reason, body, f"award:{award.key}")


STRAYS: Final = (
    _forged(Reason.UNKNOWN_COUNTRY, program="EVIL", country="ZZ"),
    _forged(Reason.UNKNOWN_PROGRAM, program="EVIL"),
    _forged(Reason.UNKNOWN_SOURCE, key="api:evil:1", source="partner:evil"),
    _forged(Reason.UNKNOWN_SOURCE, key="refund:meals:VICTIM-1"),
    _forged(Reason.UNKNOWN_SOURCE, key="expiry:2026-11:bob:GRP", source="clock"),
    _forged(Reason.IN_THE_FUTURE, occurred_at=datetime(2099, 1, 1, tzinfo=UTC), expires_on=date(2099, 7, 31)),
    _forged(Reason.INVALID, expires_on=date(2109, 12, 31)),
    _stray("award queue", "no envelope at all", Reason.UNDECODABLE),
    _stray("award queue", '{"v":1}', Reason.INVALID),
    _stray("award queue", '{"v":3,"awards":[]}', Reason.UNSUPPORTED),
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
