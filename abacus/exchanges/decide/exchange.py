"""An exchange: where it stands, in both directions. Pure values.

Out: quoted → (review →) held → sent → credited → captured; → rejected → released; sent → unknown → cancelling →
cancelled → released. Captured → reversing → reversed. In: reserved → committed → awarded, or → dropped.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID, uuid5

from abacus.exchanges.decide.programme import Direction

_OURS: Final = UUID("6f1d2c9e-6a0b-5b1f-9a53-0d5d7f0c7a11")


class State(StrEnum):
    """Where an exchange stands. In each state exactly one side has the points."""

    QUOTED = "quoted"  # nothing is held
    REVIEW = "review"  # held; a person decides
    HELD = "held"  # held; to be sent
    SENT = "sent"  # held; the partner has it, or will have it
    UNKNOWN = "unknown"  # held; what the partner did is not known
    CANCELLING = "cancelling"  # held; the partner is asked to refuse it for ever
    ASIDE = "aside"  # held; a person decides
    CREDITED = "credited"  # the partner has credited; the hold is captured next
    CAPTURED = "captured"
    REJECTED = "rejected"  # the partner has refused for ever; the hold is released next
    CANCELLED = "cancelled"  # the partner will refuse for ever; the hold is released next
    RELEASED = "released"
    REVERSING = "reversing"  # the partner debits first
    TAKEN_BACK = "taken-back"  # the partner has debited; the points come back next
    REVERSED = "reversed"
    # In: the partner holds meanwhile.
    RESERVED = "reserved"
    COMMITTED = "committed"  # it is awarded under its key; the posting decides
    AWARDED = "awarded"
    DROPPED = "dropped"  # refused or cancelled; refused for ever


HOLDING: Final = (
    State.REVIEW,
    State.HELD,
    State.SENT,
    State.UNKNOWN,
    State.CANCELLING,
    State.ASIDE,
    State.CREDITED,
    State.REJECTED,
    State.CANCELLED,
)
UNSETTLED: Final = (*HOLDING, State.REVERSING, State.TAKEN_BACK, State.COMMITTED)  # points are still to be moved
ASKED: Final = tuple(each for each in State if each is not State.QUOTED)  # a quote alone is no exchange
ENDED: Final = (State.CAPTURED, State.RELEASED, State.REVERSED, State.AWARDED, State.DROPPED)


class Exchange(NamedTuple):
    """A row. `points` are the house's, `credit` and `debit` the partner's: of one that goes out the credit, of one that
    comes in what the partner takes. The hold has `points` and `fee`. `reference` is the partner's own id. `due_at` is
    when the next thing is done for it, and None when nothing is.
    """

    exchange_id: UUID
    direction: Direction
    programme: str
    version: int
    partner: str
    member_id: str
    program: str
    country: str
    link_id: UUID
    points: int
    theirs: int
    fee: int
    key: str | None  # the caller's Idempotency-Key with its source, once it is asked for
    fingerprint: str
    actor: str
    source: str
    state: State
    reason: str | None
    detail: str | None
    reference: str | None
    quoted_at: datetime
    expires_at: datetime
    asked_at: datetime | None
    sent_at: datetime | None
    credited_at: datetime | None
    ended_at: datetime | None
    changed_at: datetime
    due_at: datetime | None
    late_at: datetime | None
    attempts: int
    turns: int  # rows of its trail
    file: str | None  # the file that carries it


class Turn(NamedTuple):
    """A row of the trail: an exchange came to a state."""

    exchange_id: UUID
    n: int
    state: State
    at: datetime
    by: str
    reason: str | None
    detail: str | None


def inbound_id(partner: str, id_: str) -> UUID:
    """Ours for an exchange that a partner names."""
    return uuid5(_OURS, f"{partner}\n{id_}")


def award_key(partner: str, id_: str) -> str:
    return f"exchange:{partner}:{id_}"


def ledger_key(exchange_id: UUID, act: str) -> str:
    """`act` is hold, capture, release or reverse."""
    return f"exchange:{exchange_id}:{act}"
