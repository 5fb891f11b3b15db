"""Posting as its callers see it: the claim of a key, the fate of an award, and a ledger's promises."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from abacus.core.errors import AbacusError, SetAside, Unavailable
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Rejection
from abacus.ledger.types.transfer import Transfer


class Claim(NamedTuple):
    """A key that is taken, the account and transfer that took it, and the fingerprint of its facts."""

    key: str
    member_id: str
    program: str
    seq: int
    fingerprint: str


class Status(StrEnum):
    """The fate of an award or a movement."""

    POSTED = "posted"
    DUPLICATE = "duplicate"  # the same key for the same facts: the first posting stands
    CONFLICT = "conflict"  # the same key for other facts: neither silently wins
    REFUSED = "refused"  # no account can take it
    WAITS = "waits"  # the server of its slice is away, and the others' awards are posted: it has to come again
    REJECTED = "rejected"  # its partner met a limit, or its transaction has its award: final for this key


class AwardOutcome(NamedTuple):
    """The fate of one award. `transfer` is there when it was posted now, `claim` when its key was taken before, and
    `rejection` when it was rejected, now or before.
    """

    award: Award
    status: Status
    transfer: Transfer | None = None
    claim: Claim | None = None
    fault: SetAside | None = None
    rejection: Rejection | None = None


class Unpostable(AbacusError):
    """The store refused a value of one of the awards; it does not say which award."""


class SliceAway(Unavailable):
    """Nothing of this was done: the servers of its members' slices are away, other servers are not."""


class LedgerPort(Protocol):
    """A ledger's promises to callers who post."""

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        """Post the new awards, all or nothing, and return the fate of each, in order. In a ledger that is cut, each
        slice posts its awards together.

        Raises `Unavailable` when the ledger cannot be reached (`SliceAway`, when that is so for these awards and not
        for others) and `Unpostable` when it refuses a value; nothing of the batch is posted then, or nothing of that
        slice.
        """
        ...
