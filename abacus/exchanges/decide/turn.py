"""What becomes of an exchange that goes out: by what its partner says, by what the house does, by time. Pure.

Points are let go by the partner's word alone: by a refusal that it remembers for ever, or by its tombstone. Silence, an
error, and a question that it answers with "not known" let nothing go.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from abacus.core.errors import Refused
from abacus.exchanges.decide.exchange import Exchange, State, Turn
from abacus.exchanges.decide.heard import (
    Cancelled,
    Credited,
    Heard,
    NotKnown,
    NotTakenBack,
    OtherFacts,
    Pending,
    Rejected,
    Silence,
    TakenBack,
)
from abacus.exchanges.decide.programme import Programme

_SOONEST: Final = timedelta(seconds=1)
_LATEST: Final = timedelta(hours=1)
_NOW_AND_THEN: Final = timedelta(days=1)  # where the partner speaks by itself
_MOST_TEXT: Final = 300


class Reason(StrEnum):
    """Why an exchange is where it is; beside these, what the partner's list of refusals says."""

    NO_ANSWER = "no-answer"
    NOT_KNOWN = "not-known"  # the partner knows no such id: it is put again
    LATE = "late"
    OTHER_AMOUNT = "other-amount"
    OTHER_FACTS = "other-facts"
    CREDITED_AFTER_CANCEL = "credited-after-cancel"  # a break against the partner, never the member's
    TAKEN_BACK = "taken-back"  # by the partner, and nobody had asked
    NOT_TAKEN_BACK = "not-taken-back"
    HOLD_LOST = "hold-lost"
    CALLED_OFF = "called-off"
    DECLINED = "declined"
    UNLINKED = "unlinked"  # the member's account at the partner is not known any more
    PROGRAMME_OVER = "programme-over"  # before it was sent


class Act(StrEnum):
    """What is done next for an exchange."""

    REVIEW = "review"  # a second person is asked, or has answered
    SEND = "send"  # it is marked as sent, then put
    PUT = "put"
    GET = "get"
    CANCEL = "cancel"
    REVERSE = "reverse"
    CAPTURE = "capture"
    RELEASE = "release"
    GIVE_BACK = "give-back"


class Verdict(StrEnum):
    """What a person decides of an exchange that was set aside."""

    CREDITED = "credited"  # the partner has credited: the hold is captured
    ASK = "ask"  # the partner is asked again
    CANCEL = "cancel"  # the partner is asked for its tombstone


class WrongState(Refused):
    """The exchange is at another state."""

    def __init__(self, exchange: Exchange, detail: str) -> None:
        super().__init__(f"the exchange is {exchange.state}: {detail}")
        self.state = exchange.state


_ASKING: Final = frozenset({State.SENT, State.UNKNOWN})
_LET_GO: Final = frozenset({State.REJECTED, State.CANCELLED, State.RELEASED})
_DECIDES: Final = (Credited, Rejected, Cancelled, OtherFacts)
_NOT_SENT: Final = frozenset({State.REVIEW, State.HELD})
_MOVED: Final = {
    State.CREDITED: State.CAPTURED,
    State.REJECTED: State.RELEASED,
    State.CANCELLED: State.RELEASED,
    State.TAKEN_BACK: State.REVERSED,
}
_ACTS: Final = {
    State.REVIEW: Act.REVIEW,
    State.HELD: Act.SEND,
    State.CANCELLING: Act.CANCEL,
    State.REVERSING: Act.REVERSE,
    State.CREDITED: Act.CAPTURE,
    State.REJECTED: Act.RELEASE,
    State.CANCELLED: Act.RELEASE,
    State.TAKEN_BACK: Act.GIVE_BACK,
}


def act(exchange: Exchange) -> Act | None:
    """What is done when it is due; nothing where a person decides, or where it has ended. What was sent and never
    answered is put again: the first message may not have left.
    """
    if exchange.state is State.SENT:
        return Act.GET if exchange.attempts else Act.PUT
    if exchange.state is State.UNKNOWN:
        return Act.PUT if exchange.reason == Reason.NOT_KNOWN else Act.GET
    return _ACTS.get(exchange.state)


def turn(exchange: Exchange, heard: Heard, now: datetime, programme: Programme, share: float = 0.0) -> Exchange:
    """The exchange after its partner has said something, in whatever order and however often it comes. `share`, from 0
    to 1, spreads what is asked again.
    """
    state = exchange.state
    if state in _ASKING or (state in _NOT_SENT and isinstance(heard, _DECIDES)):  # it was sent before we were restored
        return _after_sending(exchange, heard, now, programme, share)
    if state is State.CANCELLING:
        return _while_cancelling(exchange, heard, now, programme, share)
    if state is State.REVERSING:
        return _while_reversing(exchange, heard, now, share)
    if state is State.CAPTURED and isinstance(heard, TakenBack):
        return _to(exchange, State.TAKEN_BACK, now, Reason.TAKEN_BACK, due_at=now)._replace(ended_at=None)
    if state in _LET_GO and isinstance(heard, Credited):
        return _noted(exchange, Reason.CREDITED_AFTER_CANCEL, f"{heard.amount} credited", now)
    return exchange


def woken(exchange: Exchange, now: datetime, programme: Programme) -> Exchange:
    """The exchange as it is when it is due: sent from now on, or late for good and to be cancelled."""
    if exchange.state is State.HELD:
        late_at = now + programme.late_after
        sent = _to(exchange, State.SENT, now, None, due_at=now)
        return sent._replace(sent_at=now, late_at=late_at, attempts=0)
    if exchange.state in _ASKING and _is_late_for_good(exchange, now, programme):
        return _to(exchange, State.CANCELLING, now, Reason.LATE, due_at=now)._replace(attempts=0)
    return exchange


def unlinked(exchange: Exchange, now: datetime) -> Exchange:
    """There is no account any more to put it to: the partner is asked for its tombstone."""
    return _to(exchange, State.CANCELLING, now, Reason.UNLINKED, due_at=now)._replace(attempts=0)


def later(exchange: Exchange, until: datetime) -> Exchange:
    """Nothing is done before."""
    return exchange._replace(due_at=until)


def moved(exchange: Exchange, now: datetime) -> Exchange:
    """The exchange after its points were captured, released or given back."""
    return _to(exchange, _MOVED[exchange.state], now, exchange.reason, exchange.detail, due_at=None)._replace(
        ended_at=now
    )


def hold_lost(exchange: Exchange, now: datetime, detail: str) -> Exchange:
    """The ledger does not have the hold as it has to be: a person looks."""
    return _to(exchange, State.ASIDE, now, Reason.HOLD_LOST, detail, due_at=None)


def approved(exchange: Exchange, now: datetime, by: str) -> Exchange:
    """A second person lets a large one go. Raises `WrongState`."""
    _check(exchange, {State.REVIEW}, "nobody reviews it any more")
    return _to(exchange, State.HELD, now, None, f"by {by}", due_at=now)


def declined(exchange: Exchange, now: datetime, why: str) -> Exchange:
    """A second person does not. Raises `WrongState`."""
    _check(exchange, {State.REVIEW}, "nobody reviews it any more")
    return _to(exchange, State.CANCELLED, now, Reason.DECLINED, why, due_at=now)


def called_off(exchange: Exchange, now: datetime, reason: Reason = Reason.CALLED_OFF) -> Exchange:
    """Before anything was sent: the member changes its mind, or the programme is over. Raises `WrongState`."""
    _check(exchange, _NOT_SENT, "it was sent, and only its partner can undo it")
    return _to(exchange, State.CANCELLED, now, reason, due_at=now)


def reversing(exchange: Exchange, now: datetime, programme: Programme) -> Exchange:
    """The partner is asked to take it back. Raises `WrongState`, and `Refused` where the partner does not."""
    if exchange.state in {State.REVERSING, State.TAKEN_BACK, State.REVERSED}:
        return exchange
    _check(exchange, {State.CAPTURED}, "only what the partner has credited is reversed")
    until = reversible_until(exchange, programme)
    if until is None:
        raise Refused(f"{exchange.programme}: the partner takes nothing back")
    if now >= until:
        raise Refused(f"{exchange.programme}: the partner took it back until {until.isoformat()}")
    return _to(exchange, State.REVERSING, now, None, due_at=now)._replace(ended_at=None, attempts=0)


def reversible_until(exchange: Exchange, programme: Programme) -> datetime | None:
    """None where it cannot be undone."""
    if programme.reverses_for is None or exchange.credited_at is None:
        return None
    return exchange.credited_at + programme.reverses_for


def settled(exchange: Exchange, verdict: Verdict, now: datetime, why: str) -> Exchange:
    """A person decides what was set aside; the hold stays until its partner has spoken. Raises `WrongState`."""
    _check(exchange, {State.ASIDE}, "it was not set aside")
    match verdict:
        case Verdict.CREDITED:
            return _to(exchange, State.CREDITED, now, exchange.reason, why, due_at=now)._replace(credited_at=now)
        case Verdict.ASK:
            return _to(exchange, State.UNKNOWN, now, exchange.reason, why, due_at=now)
        case Verdict.CANCEL:
            return _to(exchange, State.CANCELLING, now, exchange.reason, why, due_at=now)._replace(attempts=0)


def trail(before: Exchange, after: Exchange, now: datetime, by: str) -> Turn | None:
    """The row of the trail, where there is anything to tell."""
    if after.turns == before.turns:
        return None
    return Turn(after.exchange_id, after.turns, after.state, now, by, after.reason, after.detail)


def pause(age: timedelta, share: float) -> timedelta:
    """How long until the partner is asked again: between half of the age and all of it."""
    return min(max(age, _SOONEST), _LATEST) * (0.5 + share / 2)


def _after_sending(exchange: Exchange, heard: Heard, now: datetime, programme: Programme, share: float) -> Exchange:
    match heard:
        case Credited() | Cancelled() | OtherFacts() | TakenBack():
            return _decided(exchange, heard, now)
        case Rejected(type_, detail):
            if programme.remembers_refusals:
                return _to(exchange, State.REJECTED, now, type_, detail, due_at=now)
            return _to(exchange, State.CANCELLING, now, type_, detail, due_at=now)._replace(attempts=0)
        case Pending(detail, by_itself):
            due_at = _by_then(exchange, now, programme) if by_itself else _again(exchange, now, share)
            return _to(exchange, State.SENT, now, None, detail, due_at=due_at, more=1)
        case NotKnown() | Silence():
            return _unknown(exchange, heard, now, share)
        case NotTakenBack():
            return exchange


def _while_cancelling(exchange: Exchange, heard: Heard, now: datetime, programme: Programme, share: float) -> Exchange:
    match heard:
        case Credited() | Cancelled() | OtherFacts() | TakenBack():
            return _decided(exchange, heard, now)
        case Rejected(type_, detail) if programme.remembers_refusals:
            return _to(exchange, State.REJECTED, now, type_, detail, due_at=now)
        case _:
            return _asked_again(exchange, heard, now, share)


def _while_reversing(exchange: Exchange, heard: Heard, now: datetime, share: float) -> Exchange:
    match heard:
        case TakenBack():
            return _to(exchange, State.TAKEN_BACK, now, None, due_at=now)
        case NotTakenBack(detail):
            return _to(exchange, State.CAPTURED, now, Reason.NOT_TAKEN_BACK, detail, due_at=None)._replace(ended_at=now)
        case _:
            return _asked_again(exchange, heard, now, share)


def _decided(exchange: Exchange, heard: Credited | Cancelled | OtherFacts | TakenBack, now: datetime) -> Exchange:
    """What is the same whether it was asked to cancel or not."""
    match heard:
        case Credited(amount, reference) if amount == exchange.theirs:
            credited = _to(exchange, State.CREDITED, now, None, due_at=now)
            return credited._replace(credited_at=now, reference=_cut(reference))
        case Credited(amount, reference):
            detail = f"{amount} credited in place of {exchange.theirs}"
            aside = _to(exchange, State.ASIDE, now, Reason.OTHER_AMOUNT, detail, due_at=None)
            return aside._replace(reference=_cut(reference))
        case Cancelled():
            return _to(exchange, State.CANCELLED, now, exchange.reason, exchange.detail, due_at=now)
        case OtherFacts(detail):
            return _to(exchange, State.ASIDE, now, Reason.OTHER_FACTS, detail, due_at=None)
        case TakenBack():
            return _to(exchange, State.ASIDE, now, Reason.TAKEN_BACK, due_at=None)


def _unknown(exchange: Exchange, heard: NotKnown | Silence, now: datetime, share: float) -> Exchange:
    if isinstance(heard, NotKnown):
        return _to(exchange, State.UNKNOWN, now, Reason.NOT_KNOWN, due_at=_again(exchange, now, share), more=1)
    due_at = _again(exchange, now, share, heard.retry_after_s)
    return _to(exchange, State.UNKNOWN, now, Reason.NO_ANSWER, heard.why, due_at=due_at, more=1)


def _asked_again(exchange: Exchange, heard: Heard, now: datetime, share: float) -> Exchange:
    if isinstance(heard, Pending) and heard.by_itself:
        due_at = now + _NOW_AND_THEN
    else:
        due_at = _again(exchange, now, share, heard.retry_after_s if isinstance(heard, Silence) else None)
    return exchange._replace(due_at=due_at, attempts=exchange.attempts + 1)


def _again(exchange: Exchange, now: datetime, share: float, retry_after_s: float | None = None) -> datetime:
    since = exchange.sent_at if exchange.state in _ASKING else exchange.changed_at
    wait = pause(now - (since or exchange.changed_at), share)
    return now + max(wait, timedelta(seconds=min(retry_after_s or 0.0, _LATEST.total_seconds())))


def _by_then(exchange: Exchange, now: datetime, programme: Programme) -> datetime:
    """It is looked at again: when it is late for good, if not before."""
    for_good = _late_for_good_at(exchange, programme)
    latest = now + _NOW_AND_THEN
    return latest if for_good is None else min(max(for_good, now), latest)


def _is_late_for_good(exchange: Exchange, now: datetime, programme: Programme) -> bool:
    for_good = _late_for_good_at(exchange, programme)
    return for_good is not None and now >= for_good


def _late_for_good_at(exchange: Exchange, programme: Programme) -> datetime | None:
    if programme.cancel_after is None or exchange.sent_at is None:
        return None
    return exchange.sent_at + programme.cancel_after


def _to(
    exchange: Exchange,
    state: State,
    now: datetime,
    reason: str | None,
    detail: str | None = None,
    *,
    due_at: datetime | None,
    more: int = 0,
) -> Exchange:
    """It comes to a state. A state that it has for the same reason is no turn."""
    is_turn = (state, reason) != (exchange.state, exchange.reason)
    return exchange._replace(
        state=state,
        reason=reason,
        detail=_cut(detail),
        due_at=due_at,
        changed_at=now if state is not exchange.state else exchange.changed_at,
        turns=exchange.turns + is_turn,
        attempts=exchange.attempts + more,
    )


def _noted(exchange: Exchange, reason: Reason, detail: str, now: datetime) -> Exchange:
    """A turn without a change of its state, once."""
    if exchange.reason == reason:
        return exchange
    return _to(exchange, exchange.state, now, reason, detail, due_at=exchange.due_at)


def _cut(text: str | None) -> str | None:
    return None if text is None else text[:_MOST_TEXT]


def _check(exchange: Exchange, states: frozenset[State] | set[State], detail: str) -> None:
    if exchange.state not in states:
        raise WrongState(exchange, detail)
