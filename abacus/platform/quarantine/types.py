"""An item that was set aside. Pure."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from abacus.core.errors import Reason, SetAside

# The origins of envelopes: each is a queue, and a replay puts the envelope back on it.
AWARD_QUEUE: Final = "award queue"
RETRY_QUEUE: Final = "retry queue"
EXPIRY_QUEUE: Final = "expiry queue"


class Stage(StrEnum):
    """The stage at which an item was set aside; it decides where a replay puts the item back."""

    TRANSACTION = "transaction"
    AWARD = "award"
    ENVELOPE = "envelope"


@dataclass(frozen=True, slots=True)
class Item:
    """An item that could not be processed, whole. Its id depends on its content and origin, so setting it aside again
    after a crash makes no second item.
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
