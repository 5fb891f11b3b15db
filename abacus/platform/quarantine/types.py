"""An item that was set aside. Pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside

# The origins of envelopes: each is a queue, and a replay puts the envelope back on it.
AWARD_QUEUE: Final = "award queue"
RETRY_QUEUE: Final = "retry queue"
EXPIRY_QUEUE: Final = "expiry queue"
CAMPAIGN_RETRY_QUEUE: Final = "campaign retry queue"


_KAFKA: Final = "kafka:"


def origin_of(topic: str, partition: int, offset: int) -> str:
    """The origin of a message of a topic."""
    return f"{_KAFKA}{topic}/{partition}/{offset}"


def deferred_origin(topic: str, key: str) -> str:
    """The origin of an event that waited: it has the form of the events of the topic by now."""
    return f"{_KAFKA}{topic}/deferred/{hashlib.blake2b(key.encode(), digest_size=10).hexdigest()}"


def topic_of(origin: str) -> str | None:
    """The topic that a message came from; None for an origin that is none."""
    return origin.removeprefix(_KAFKA).partition("/")[0] if origin.startswith(_KAFKA) else None


class Stage(StrEnum):
    """The stage at which an item was set aside; it decides where a replay puts the item back."""

    TRANSACTION = "transaction"
    AWARD = "award"
    ENVELOPE = "envelope"
    EVENT = "event"
    CAMPAIGN = "campaign"  # an event that a campaign cannot be decided for
    POSITION = "position"  # without coordinates, so it is never sent again


# The stages whose items are published again as events, not put back on a queue.
OF_EVENTS: Final = frozenset({Stage.EVENT, Stage.CAMPAIGN})


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


class ReplayBatch(NamedTuple):
    """Held items that are about to be sent on. An item whose id is put into `unfit`, with its fault, stays held."""

    held: Sequence[HeldItem]
    unfit: dict[str, SetAside]
