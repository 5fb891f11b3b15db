"""The rows of `hold`, in order, beside the transfers that placed and settled them."""

from abacus.ledger.types.account import AccountId
from abacus.ledger.types.movement import Hold
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns
from abacus.proof.decide.holds import NO_TRANSFER
from abacus.proof.decide.report import Fault, Report
from abacus.proof.parts import Span
from abacus.proof.sight import Pager


class HoldRows:
    """A member's holds are read when the first of the member's accounts is asked for."""

    def __init__(self, connection: Connection, span: Span) -> None:
        query = Statement(f"""
            select {columns(Hold, "h")} from hold h where {span.where("h")} order by h.member_id, h.hold_id
        """)
        self._rows = Pager(Hold, connection, *query(**span.parameters))
        self._member: str | None = None
        self._by_program: dict[str, list[Hold]] = {}

    async def of(self, id_: AccountId | None, report: Report) -> list[Hold]:
        """The holds of the account. Holds of earlier accounts that were not asked for are faults; None: all left."""
        member, program = id_ or (None, "")
        if member is None or member != self._member:
            _note(report, [hold for holds in self._by_program.values() for hold in holds])
            self._member, self._by_program = member, {}
            while (hold := await self._rows.peek()) is not None and (member is None or hold.member_id <= member):
                await self._rows.take()
                if hold.member_id == member:
                    self._by_program.setdefault(hold.program, []).append(hold)
                else:
                    _note(report, [hold])
        return self._by_program.pop(program, [])


def _note(report: Report, holds: list[Hold]) -> None:
    for hold in holds:
        what = NO_TRANSFER.format(hold.hold_id)
        report.note(Fault(hold.member_id, hold.program, hold.placed_seq, what))
