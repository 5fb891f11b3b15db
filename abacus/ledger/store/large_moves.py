"""Adjustments and reversals that are too large for one person: they are posted when a second one has approved them.

Small ones are posted at once. What is pending has not touched the account.
"""

from typing import NamedTuple, Protocol

from abacus.core.ids import award_id
from abacus.core.sources import Agent, name_of
from abacus.ledger.decide.reused_key import reused_by_another
from abacus.ledger.types.movement import Adjustment, Moved, Movement, Reversal, SecondPersonNeeded
from abacus.ledger.types.movement_document import document_of, read_adjustment, read_reversal
from abacus.ledger.types.posting import Status
from abacus.people.decide.approving import check_unchanged
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, CannotDecide, CannotExecute, Kind, Proposal
from abacus.platform.postgres import Also


class Mover(Protocol):
    """Posts one movement. Raises `CannotDecide` for a key that is not its own."""

    async def __call__(self, movement: Movement, /) -> Moved: ...


class Alone(NamedTuple):
    """How many points somebody may move alone: in an adjustment, and by reversals of one transfer altogether."""

    adjustment: int
    reversal: int


class LargeMoves:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, approvals: Approvals, move: Mover, alone: Alone) -> None:
        self._move = move
        self._alone = alone
        self.approvals = approvals
        approvals.carried_out_by({Kind.ADJUSTMENT: self.carry_out, Kind.REVERSAL: self.carry_out})

    async def do(self, movement: Adjustment | Reversal) -> Moved | Approval:
        """Post it, or where it is large ask for a second person. The same key gives the same again. Raises
        `CannotDecide` for a key that was used for something else.
        """
        if isinstance(movement, Adjustment):
            if abs(movement.points) <= self._alone.adjustment:
                return await self._move(movement._replace(alone=self._alone.adjustment))
            return await self._ask(Kind.ADJUSTMENT, movement)
        moved = await self._move(movement._replace(alone=self._alone.reversal))
        if not isinstance(moved.fault, SecondPersonNeeded):
            return moved
        # What is approved is a number of points, also where all that is left was asked for.
        return await self._ask(Kind.REVERSAL, movement._replace(part=moved.fault.points))

    async def carry_out(self, approval: Approval, _: Also) -> None:
        """The executor of both kinds. The key of the movement sees to it that it is posted once."""
        movement = read_movement(approval)
        check_unchanged(approval, document_of(movement))
        if movement.key != approval.subject or approval.decided_by is None:
            raise CannotExecute("it is not what was approved")
        try:
            moved = await self._move(movement._replace(approved_by=name_of(approval.decided_by)))
        except CannotDecide as fault:
            raise CannotExecute(fault.detail, fault) from None
        if moved.status is Status.REFUSED and moved.fault is not None:
            raise CannotExecute(moved.fault.detail, moved.fault)
        if moved.status is Status.CONFLICT:  # while it was pending, the key was used for something else
            detail = f"{movement.key} was posted for something else meanwhile"
            raise CannotExecute(detail, CannotDecide("idempotency-key-reused", detail))

    async def _ask(self, kind: Kind, movement: Adjustment | Reversal) -> Approval:
        proposal = Proposal(
            kind=kind,
            subject=movement.key,
            country=movement.country,
            summary=_summary(movement),
            document=document_of(movement),
            once=award_id(movement.key),
        )
        approval = await self.approvals.ask(proposal, Agent(movement.actor or "", movement.source))
        first = read_movement(approval)
        if approval.subject != movement.key or first.fingerprint != movement.fingerprint:
            raise CannotDecide("idempotency-key-reused", reused_by_another(movement, first))
        return approval


def read_movement(approval: Approval) -> Adjustment | Reversal:
    """The movement that is asked for. Raises `CannotExecute`."""
    read = read_adjustment if approval.kind == Kind.ADJUSTMENT else read_reversal
    return read(approval.document)


def _summary(movement: Adjustment | Reversal) -> str:
    whose = f"{movement.program} of {movement.member_id} in {movement.country}"
    if isinstance(movement, Adjustment):
        return f"adjust {movement.points:+,} {whose}: {movement.reason}"
    return f"take back {movement.part:,} {whose}, of {movement.reverses}: {movement.reason}"
