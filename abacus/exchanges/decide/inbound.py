"""What becomes of an exchange that comes in, by what the partner asks and in whatever order. Pure.

The partner holds at its end. It reserves here, which moves nothing; its commit is decided durably, and is awarded from
then on. A refusal and a cancellation are tombstones: the id is refused for ever.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from abacus.exchanges.decide.exchange import Exchange, State, inbound_id
from abacus.exchanges.decide.programme import Direction, Programme

_NOBODY: Final = UUID(int=0)


class Refusal(StrEnum):
    """Why an exchange of a partner is refused for ever: the types of the contract's list."""

    ACCOUNT_CLOSED = "account-closed"
    ACCOUNT_UNKNOWN = "account-unknown"
    CAP_REACHED = "cap-reached"
    NOT_ELIGIBLE = "not-eligible"
    AMOUNT_NOT_ALLOWED = "amount-not-allowed"


class Against(NamedTuple):
    """A refusal in words."""

    refusal: Refusal
    detail: str


class Ended(StrEnum):
    """Why a reservation ended without a refusal."""

    CANCELLED = "cancelled"  # by the partner
    LEFT = "left"  # the partner neither committed nor cancelled it in time


class Asked(NamedTuple):
    """A reservation as the partner asks for it: `theirs` of its points are given. `facts` tell it from another one of
    the same id, and betray no account.
    """

    partner: str
    id: str
    account: str  # its number
    theirs: int
    facts: str

    @property
    def exchange_id(self) -> UUID:
        return inbound_id(self.partner, self.id)


class Taker(NamedTuple):
    """Whom a reservation is for: the link, and its member."""

    link_id: UUID
    member_id: str


def reserved(asked: Asked, programme: Programme, taker: Taker, points: int, now: datetime) -> Exchange:
    """Nothing stands against it. It ends by itself where the partner leaves it: no point has moved."""
    until = now + programme.late_after
    return _row(asked, programme, taker, now)._replace(
        points=points, state=State.RESERVED, reason=None, expires_at=until, due_at=until, ended_at=None
    )


def refused(asked: Asked, programme: Programme, taker: Taker | None, against: Against, now: datetime) -> Exchange:
    """A tombstone."""
    row = _row(asked, programme, taker or Taker(_NOBODY, ""), now)
    return row._replace(reason=against.refusal, detail=against.detail)


def buried(partner: str, id_: str, now: datetime) -> Exchange:
    """A tombstone for an id that was never heard of: its reservation may still be on its way."""
    return Exchange(
        exchange_id=inbound_id(partner, id_),
        direction=Direction.IN,
        programme="",
        version=0,
        partner=partner,
        member_id="",
        program="",
        country="",
        link_id=_NOBODY,
        points=0,
        theirs=0,
        fee=0,
        key=None,
        fingerprint="",
        actor=partner,
        source=f"partner:{partner}",
        state=State.DROPPED,
        reason=Ended.CANCELLED,
        detail=None,
        reference=id_,
        quoted_at=now,
        expires_at=now,
        asked_at=now,
        sent_at=None,
        credited_at=None,
        ended_at=now,
        changed_at=now,
        due_at=None,
        late_at=None,
        attempts=0,
        turns=1,
        file=None,
    )


def committed(exchange: Exchange, programme: Programme | None, now: datetime) -> Exchange:
    """It is awarded from now on. What was dropped stays dropped, and what was committed is."""
    if exchange.state is not State.RESERVED:
        return exchange
    late_at = None if programme is None else now + programme.late_after
    return _to(exchange, State.COMMITTED, now)._replace(due_at=now, sent_at=now, late_at=late_at)


def cancelled(exchange: Exchange, now: datetime) -> Exchange:
    """Dropped, unless it was committed before."""
    return dropped(exchange, Ended.CANCELLED, now)


def left(exchange: Exchange, now: datetime) -> Exchange:
    """Dropped, where its time is over and the partner did not commit."""
    return dropped(exchange, Ended.LEFT, now) if now >= exchange.expires_at else exchange


def dropped(exchange: Exchange, why: Ended, now: datetime) -> Exchange:
    if exchange.state is not State.RESERVED:
        return exchange
    return _to(exchange, State.DROPPED, now)._replace(reason=why, due_at=None, ended_at=now)


def awarded(exchange: Exchange, now: datetime) -> Exchange:
    """The ledger has its key."""
    if exchange.state is not State.COMMITTED:
        return exchange
    return _to(exchange, State.AWARDED, now)._replace(due_at=None, credited_at=now, ended_at=now)


def _row(asked: Asked, programme: Programme, taker: Taker, now: datetime) -> Exchange:
    return buried(asked.partner, asked.id, now)._replace(
        programme=programme.name,
        version=programme.version,
        member_id=taker.member_id,
        program=programme.program,
        country=programme.country,
        link_id=taker.link_id,
        theirs=asked.theirs,
        fingerprint=asked.facts,
    )


def _to(exchange: Exchange, state: State, now: datetime) -> Exchange:
    return exchange._replace(state=state, reason=None, changed_at=now, turns=exchange.turns + 1)
