"""The rule of all reports, written as plainly as possible: points leave one by one, the oldest first."""

from collections import Counter, deque
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Final

from hypothesis import strategies as st

from tests.oversight.reports.histories import History, Move

_WENT: Final = {"spend": "spent", "expire": "expired", "reverse": "reversed", "adjust": "adjusted"}
_CAME: Final = {"earn": "earned", "reverse": "returned", "adjust": "added"}

Counts = Mapping[tuple[str, str], int]  # points by month and column


def months_of(history: History) -> Counts:
    """The fate of the points of each month, by column; debts stand under `owed`. Zeroes are left out."""
    named = _named(history)
    free = deque(_month(move) for seq, move in enumerate(history.moves, 1) for _ in range(move.points - named[seq]))
    counts: Counter[tuple[str, str]] = Counter()
    for move in history.moves:
        if move.points > 0:
            counts[_month(move), _CAME[move.kind]] += move.points
            counts[_month(move), "outstanding"] += move.points
        went = [_month(history.moves[lot - 1]) for lot, points in move.draws for _ in range(points)]
        oldest_first = -move.points - len(went)
        went += [free.popleft() if free else "owed" for _ in range(oldest_first)]
        for month in went:
            counts[month, _WENT[move.kind]] += 1
            counts[month, "outstanding"] -= 1
    return {key: points for key, points in counts.items() if points}


def lots_of(history: History) -> dict[int, int]:
    """How many points are left of each credit that has any. Points on hold are taken from the oldest."""
    named = _named(history)
    left = {seq: move.points - named[seq] for seq, move in enumerate(history.moves, 1) if move.points > named[seq]}
    gone = history.held + sum(-move.points - sum(by_name for _, by_name in move.draws) for move in _debits(history))
    for seq, capacity in left.items():
        left[seq] = max(capacity - gone, 0)
        gone = max(gone - capacity, 0)
    return {seq: points for seq, points in left.items() if points}


def _debits(history: History) -> list[Move]:
    return [move for move in history.moves if move.points < 0]


def _named(history: History) -> Counter[int]:
    """The points that were taken from each lot by name."""
    named: Counter[int] = Counter()
    for move in history.moves:
        for lot, points in move.draws:
            named[lot] += points
    return named


def _month(move: Move) -> str:
    return f"{move.at:%Y-%m}"


@st.composite
def histories(draw: st.DrawFn, member_id: str, program: str) -> History:
    """Up to a dozen transfers over some months, in the order of time. Some take points by name from a lot that has
    them; some take more than there is.
    """
    moves: list[Move] = []
    month = 1
    for _ in range(draw(st.integers(1, 12))):
        month = min(12, month + draw(st.integers(0, 2)))
        at = datetime(2026, month, 15, len(moves), tzinfo=UTC)
        expires_on = date(2027, draw(st.integers(1, 12)), 28)
        kind = draw(st.sampled_from(["earn", "earn", "earn", "spend", "expire", "reverse", "adjust", "hold"]))
        points = draw(st.integers(0, 60))
        if kind == "hold":
            moves.append(Move(kind, 0, at))
        elif kind == "earn" or (kind in {"reverse", "adjust"} and draw(st.booleans())):
            moves.append(Move(kind, points, at, tier=draw(st.sampled_from([None, "gold"])), expires_on=expires_on))
        else:
            draws: list[tuple[int, int]] = []
            lots = lots_of(History(member_id, moves))
            if lots and kind != "spend" and draw(st.booleans()):
                seq = draw(st.sampled_from(sorted(lots)))
                by_name = draw(st.integers(1, lots[seq]))
                draws, points = [(seq, by_name)], max(points, by_name)
            moves.append(Move(kind, -points, at, draws=draws))
    return History(member_id, moves, program=program)
