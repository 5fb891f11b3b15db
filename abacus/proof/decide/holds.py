"""The holds of one account, beside the transfers that placed and settled them. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from abacus.ledger.types.movement import Hold, HoldStatus
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.types import Held, OfHold, Released

NO_TRANSFER: Final = "the hold {} is of an account without transfers"


class Holds:
    """Begins with the account's rows, before its first transfer."""

    __slots__ = ("_placed", "_rows", "_settled")

    def __init__(self, rows: Sequence[Hold] = ()) -> None:
        self._rows = {str(row.hold_id): row for row in rows}
        self._placed: set[str] = set()
        self._settled: set[str] = set()

    def follow(self, transfer: Transfer, explanation: OfHold) -> Iterator[str]:
        """The faults of the hold that the transfer placed or settled."""
        hold = self._rows.get(explanation.hold)
        if hold is None:
            yield f"the hold {explanation.hold} that it explains is not there"
            return
        if isinstance(explanation, Held):
            self._placed.add(explanation.hold)
            expected = {
                "points": explanation.held,
                "until": explanation.until,
                "placed_seq": transfer.seq,
                "settled_by": transfer.source if explanation.until is None else None,
            }
        else:
            self._settled.add(explanation.hold)
            status = explanation.because if isinstance(explanation, Released) else HoldStatus.CAPTURED
            expected = {"points": -explanation.held, "status": status, "settled_seq": transfer.seq}
        recorded = hold._asdict()
        for name, value in expected.items():
            if recorded[name] != value:
                yield f"the hold {explanation.hold} has the {name} {recorded[name]}, it explains {value}"

    def finish(self, held: int) -> Iterator[str]:
        """The faults of the rows, after the last transfer of an account that has `held` points held."""
        for name, hold in self._rows.items():
            if name not in self._placed:
                yield f"no transfer explains that the hold {name} was placed"
            if hold.status != HoldStatus.OPEN and name not in self._settled:
                yield f"the hold {name} is {hold.status}, and no transfer explains it"
        of_open = sum(hold.points for hold in self._rows.values() if hold.status == HoldStatus.OPEN)
        if held != of_open:
            yield f"the account's held is {held}, its open holds come to {of_open}"
