"""An award: points for a member, on their way to the ledger. Pure."""

from datetime import date, datetime
from typing import NamedTuple

from abacus.ledger.types.kinds import TransferKind


class Transacted(NamedTuple):
    """The transaction that an award under another key is for: the key of the transaction, and the fingerprint that the
    stream would send with it.
    """

    key: str
    fingerprint: str


class Award(NamedTuple):
    """Points for a member, under a key that can be posted once.

    A named tuple, because millions pass: it costs a third of a frozen dataclass. `explanation` is JSON text and is
    carried as it was first written; `source` says where the points come from (`abacus.core.sources`). With `lifetime`
    the points lapse after `expires_on`, whatever the member does. An award for a `transaction` claims its key too.
    """

    key: str
    member_id: str
    program: str
    country: str
    kind: TransferKind
    points: int
    occurred_at: datetime
    expires_on: date
    activity: bool
    fingerprint: str
    explanation: bytes
    source: str
    lifetime: bool = False
    transaction: Transacted | None = None
