"""An item that was set aside. Pure."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from abacus.core.errors import Reason, SetAside

# The origins of envelopes: each is the queue that it stood in, and that a replay puts it back on.
AWARD_QUEUE: Final = "award queue"
RETRY_QUEUE: Final = "retry queue"
EXPIRY_QUEUE: Final = "expiry queue"


class Stage(StrEnum):
    """Where it was set aside, which decides where a replay puts it back."""

    TRANSACTION = "transaction"
    AWARD = "award"
    ENVELOPE = "envelope"


@dataclass(frozen=True, slots=True)
class Item:
    """What could not be processed, whole. Its id depends on what it is and where it stood, so setting it aside again
    after a crash is the same item.
    """

    stage: Stage
    origin: str
    reason: Reason
    detail: str
    body: bytes
    key: str | None = None
    fingerprint: str | None = None
    posted_fingerprint: str | None = None
    id: str = field(init=False)

    def __post_init__(self) -> None:
        identity = b"\0".join((self.stage.encode(), self.origin.encode(), self.body))
        object.__setattr__(self, "id", hashlib.blake2b(identity, digest_size=10).hexdigest())

    @classmethod
    def of(cls, stage: Stage, origin: str, body: bytes, fault: SetAside) -> "Item":
        return cls(stage, origin, fault.reason, fault.detail, body)


@dataclass(frozen=True, slots=True)
class HeldItem:
    """An item as the quarantine keeps it."""

    item: Item
    status: str
    set_aside_at: datetime
    replayed_at: datetime | None
    replays: int
