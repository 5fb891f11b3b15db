"""Rows of other rooms that follow from an account's transfers, and are examined beside them.

The rooms above implement this. It is sent to other processes as it is.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from abacus.ledger.types.account import AccountId
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection
from abacus.proof.decide.account_chain import Recompute
from abacus.proof.decide.report import Report
from abacus.proof.parts import Span


class RowsBeside(Protocol):
    """The rows of a span. Accounts come in the order of their ids."""

    async def turn_to(self, account: AccountId | None, report: Report) -> None:
        """The transfers of this account come next, and none of the accounts before it; None: no more come at all. Notes
        the faults of accounts that are over.
        """
        ...

    def follow(self, transfer: Transfer) -> None: ...


class Beside(Protocol):
    """Opens the rows of a span."""

    async def open(self, connection: Connection, shared: Connection, span: Span) -> RowsBeside:
        """`connection` has the tables of the slice, `shared` everything that is not cut."""
        ...


class Together:
    """Rows of several rooms."""

    def __init__(self, rows: Sequence[RowsBeside]) -> None:
        self._rows = rows

    async def turn_to(self, account: AccountId | None, report: Report) -> None:
        for each in self._rows:
            await each.turn_to(account, report)

    def follow(self, transfer: Transfer) -> None:
        for each in self._rows:
            each.follow(transfer)


class By(NamedTuple):
    """What a part is examined by: recomputing explanations, the seed of the numbers of keys, rows of other rooms, and
    what partners asked for.
    """

    recompute: Recompute
    seed: int
    beside: Sequence[Beside] = ()
    asked: bool = True
