"""An exchange against what the ledger and the position have of it. Pure.

Its state says which movements were posted, where its hold stands, and which entries its partner's position has.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from abacus.core.sources import exchange_source
from abacus.exchanges.decide.exchange import HOLDING, Exchange, State, award_key, ledger_key
from abacus.exchanges.decide.position import EntryKind
from abacus.exchanges.decide.programme import Direction
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import HoldStatus

HOLD: Final = "hold"
CAPTURE: Final = "capture"
RELEASE: Final = "release"
REVERSE: Final = "reverse"
AWARD: Final = "award"
_ACTS: Final = (HOLD, CAPTURE, RELEASE, REVERSE)

_HELD: Final = frozenset({HOLD})
_CAPTURED: Final = frozenset({HOLD, CAPTURE})
# What was posted for an exchange at a state; nothing for the others.
_POSTED: Final[Mapping[State, frozenset[str]]] = {
    **dict.fromkeys(HOLDING, _HELD),
    **dict.fromkeys((State.CAPTURED, State.REVERSING, State.TAKEN_BACK), _CAPTURED),
    State.RELEASED: frozenset({HOLD, RELEASE}),
    State.REVERSED: frozenset({HOLD, CAPTURE, REVERSE}),
    State.AWARDED: frozenset({AWARD}),
}
_STANDS: Final[Mapping[str, HoldStatus]] = {CAPTURE: HoldStatus.CAPTURED, RELEASE: HoldStatus.RELEASED}
_ENTRIES: Final[Mapping[str, EntryKind]] = {
    HOLD: EntryKind.HELD,
    CAPTURE: EntryKind.CAPTURED,
    RELEASE: EntryKind.RELEASED,
    REVERSE: EntryKind.REVERSED,
    AWARD: EntryKind.AWARDED,
}
_KINDS: Final[Mapping[str, TransferKind]] = {
    HOLD: TransferKind.HOLD,
    CAPTURE: TransferKind.EXCHANGE_OUT,
    RELEASE: TransferKind.RELEASE,
    REVERSE: TransferKind.REVERSE,
    AWARD: TransferKind.EXCHANGE_IN,
}
_SIGNS: Final[Mapping[str, int]] = {HOLD: 0, CAPTURE: -1, RELEASE: 0, REVERSE: 1, AWARD: 1}


class Posted(NamedTuple):
    """A transfer under one of the keys of an exchange."""

    kind: str
    points: int


class Hold(NamedTuple):
    """A hold with the id of an exchange. `settled_by` is the source that alone settles it, of a hold without an end."""

    points: int
    status: str
    settled_by: str | None


class Entered(NamedTuple):
    """An entry of the position."""

    kind: str
    points: int
    theirs: int
    money: Decimal


class Kept(NamedTuple):
    """What ledger and position have of an exchange."""

    posted: Mapping[str, Posted]  # by keys
    hold: Hold | None
    entries: Sequence[Entered]


def keys_of(exchange: Exchange) -> dict[str, str]:
    """By what is done, the keys under which it may be posted."""
    if exchange.direction is Direction.IN:
        return {AWARD: award_key(exchange.partner, exchange.reference or "")}
    return {act: ledger_key(exchange.exchange_id, act) for act in _ACTS}


def faults_of(exchange: Exchange, kept: Kept) -> Iterator[str]:
    """What does not come out."""
    posted = {act: kept.posted[key] for act, key in keys_of(exchange).items() if key in kept.posted}
    due = _POSTED.get(exchange.state, frozenset())
    may_be = due | ({AWARD} if exchange.state is State.COMMITTED else frozenset())  # its row follows the ledger
    said = f"it is {exchange.state}, and"
    yield from (f"{said} its {act} is not posted" for act in sorted(due - posted.keys()))
    yield from (f"{said} its {act} is posted" for act in sorted(posted.keys() - may_be))
    for act, transfer in posted.items():
        points = _SIGNS[act] * (exchange.points + exchange.fee)
        if transfer != (_KINDS[act], points):
            yield f"its {act} is {transfer.kind} of {transfer.points:,} points, not {_KINDS[act]} of {points:,}"
    yield from _of_hold(exchange, kept.hold, due)
    yield from _of_entries(exchange, kept.entries, due)


def _of_hold(exchange: Exchange, hold: Hold | None, due: frozenset[str]) -> Iterator[str]:
    if HOLD not in due:
        if hold is not None:
            yield f"it is {exchange.state}, and has a hold"
        return
    status = next((stands for act, stands in _STANDS.items() if act in due), HoldStatus.OPEN)
    if hold is None or hold.status != status:
        yield f"it is {exchange.state}, and its hold is {'not there' if hold is None else hold.status}"
    if hold is None:
        return
    if hold.points != exchange.points + exchange.fee:
        yield f"its hold has {hold.points:,} points, not {exchange.points + exchange.fee:,}"
    if hold.settled_by != exchange_source(exchange.programme):
        yield f"its hold is settled by {hold.settled_by or 'time'}"


def _of_entries(exchange: Exchange, entries: Sequence[Entered], due: frozenset[str]) -> Iterator[str]:
    wanted, found = {_ENTRIES[act] for act in due}, {each.kind for each in entries}
    yield from (f"it is {exchange.state}, and the position has no entry {kind}" for kind in sorted(wanted - found))
    yield from (f"it is {exchange.state}, and the position has an entry {kind}" for kind in sorted(found - wanted))
    for each in entries:
        if (each.points, each.theirs) != (exchange.points, exchange.theirs):
            yield f"its entry {each.kind} is of {each.points:,} for {each.theirs:,}"
    if len({each.money for each in entries}) > 1:
        yield f"its entries are of {' and '.join(sorted({str(each.money) for each in entries}))}"
