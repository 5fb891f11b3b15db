"""A transfer: one change of one account."""

from datetime import date, datetime
from typing import Final, NamedTuple, TypeAlias

from abacus.core.sources import source_of_key
from abacus.ledger.types.kinds import TransferKind

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
    str | None,
    bool | None,
    date | None,
    datetime | None,
    int,
]


class Transfer(NamedTuple):
    """One change of one account, never altered afterwards. The hash comes last and covers all other fields."""

    member_id: str
    program: str
    seq: int
    kind: TransferKind
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
    source: str | None  # where the points came from; rows of format 1 were written without it
    lifetime: bool | None  # whether the account lapses by lots from here on; rows before format 3 do not say
    vests_on: date | None  # the first day on which the points can be spent; of a reversal, could have been
    vests_at: datetime | None  # when that day begins
    format: int  # which fields the hash covers
    hash: bytes

    def is_pending(self, now: datetime) -> bool:
        """Whether the points that it brought vest later."""
        return self.points > 0 and self.vests_at is not None and self.vests_at > now

    @property
    def known_source(self) -> str | None:
        """The source, also of a row that was written without one; None where its key implies none."""
        return self.source or source_of_key(self.key, self.actor)
