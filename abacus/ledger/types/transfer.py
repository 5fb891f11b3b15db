"""A transfer: one change of one account."""

from datetime import date, datetime
from typing import Final, NamedTuple, TypeAlias

from abacus.ledger.types.award import Kind

HASH_BYTES: Final = 32


# All of a transfer but its hash, in the order of `Transfer`'s fields.
TransferBody: TypeAlias = tuple[
    str,
    str,
    int,
    str,
    int,
    int,
    str,
    str,
    datetime,
    datetime,
    date | None,
    bytes,
    str | None,
    str | None,
]


class Transfer(NamedTuple):
    """One change of one account, never altered afterwards. The fields stand in the order of the table's columns."""

    member_id: str
    program: str
    seq: int
    kind: Kind
    points: int
    balance_after: int
    key: str
    country: str
    occurred_at: datetime
    posted_at: datetime
    expires_on: date | None
    explanation: bytes
    reverses: str | None
    actor: str | None
    hash: bytes
