"""Adjustments and reversals that are too large for one person: they are posted when a second one has approved them.

Small ones are posted at once. What is pending has not touched the account.
"""

from typing import Final, Protocol, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from abacus.core.ids import award_id
from abacus.core.sources import Agent, name_of
from abacus.ledger.decide.reused_key import reused_by_another
from abacus.ledger.types.limits import Alone
from abacus.ledger.types.movement import Adjustment, Moved, Movement, Refund, Reversal, SecondPersonNeeded
from abacus.ledger.types.port import Status
from abacus.people.decide.agreement import canonical, check_unchanged
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind, CannotDecide, CannotExecute, Proposal
from abacus.people.types.approval import Status as Decided
from abacus.platform.postgres import Also
from abacus.platform.validation import first_fault

Read = TypeVar("Read", Adjustment, Reversal)

# The approver is known later, and what one may do alone does not matter for what two agree on.
_NOT_ASKED: Final = frozenset({"approved_by", "alone", "sums"})

_ADJUSTMENT: Final = TypeAdapter(Adjustment)
_REVERSAL: Final = TypeAdapter(Reversal)


def document_of(movement: Adjustment | Reversal) -> str:
    fields = {name: value for name, value in movement._asdict().items() if name not in _NOT_ASKED}
    return canonical(orjson.loads(orjson.dumps(fields)))


def read_adjustment(document: str) -> Adjustment:
    """Raises `CannotExecute`."""
    return _read(_ADJUSTMENT, document)


def read_reversal(document: str) -> Reversal:
    """Raises `CannotExecute`."""
    return _read(_REVERSAL, document)


def _read(adapter: TypeAdapter[Read], document: str) -> Read:
    try:
        return adapter.validate_json(orjson.dumps(orjson.loads(document) | {"approved_by": None}))
    except (TypeError, ValueError) as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else error
        raise CannotExecute(f"the document cannot be read: {fault}") from None


# With an approval that stands so, the key is moved once more: then it is told what became of it.
_MOVED_AGAIN: Final = frozenset({Decided.DONE, Decided.VOID})


class Mover(Protocol):
    """Posts one movement. Raises `CannotDecide` for a key that is not its own."""

    async def __call__(self, movement: Movement, /) -> Moved: ...


class LargeMoves:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, approvals: Approvals, move: Mover, alone: Alone) -> None:
        self.move = move
        self.alone = alone
        self.approvals = approvals
        approvals.carried_out_by({ApprovalKind.ADJUSTMENT: self.carry_out, ApprovalKind.REVERSAL: self.carry_out})

    def is_large(self, movement: Adjustment | Reversal) -> bool:
        """Whether it needs a second person whatever was moved before. A movement that does not may still need one for
        what it comes to with others.
        """
        if isinstance(movement, Adjustment):
            return abs(movement.points) > self.alone.adjustment
        return isinstance(movement.part, int) and movement.part > self.alone.reversal

    async def do(self, movement: Adjustment | Reversal) -> Moved | Approval:
        """Post it, or where it is large ask for a second person. The same key gives the same again. Raises
        `CannotDecide` for a key that was used for something else.
        """
        most, _, sums = self.alone
        if isinstance(movement, Adjustment) and self.is_large(movement):
            return await self._ask(movement)
        earlier = await self.approvals.find(award_id(movement.key))
        if earlier is not None and earlier.status not in _MOVED_AGAIN:
            if isinstance(movement, Reversal):
                first = read_movement(earlier)
                movement = movement._replace(part=first.part if isinstance(first, Reversal) else 0)
            return await self._ask(movement)
        moved = await self.move(
            movement._replace(alone=most, sums=sums)
            if isinstance(movement, Adjustment)
            else movement._replace(alone=self.alone.reversal, sums=sums)
        )
        is_share = isinstance(movement, Reversal) and isinstance(movement.part, Refund)
        if is_share or not isinstance(moved.fault, SecondPersonNeeded):
            return moved
        if isinstance(movement, Reversal):
            # What is approved is a number of points, also where all that is left was asked for. A share of an amount is
            # no such number: it is refused, and may be asked for in points.
            movement = movement._replace(part=moved.fault.points)
        return await self._ask(movement, moved.fault.detail)

    async def carry_out(self, approval: Approval, _: Also) -> None:
        """The executor of both kinds. The key of the movement sees to it that it is posted once."""
        movement = read_movement(approval)
        check_unchanged(approval, document_of(movement))
        if movement.key != approval.subject or approval.decided_by is None:
            raise CannotExecute("it is not what was approved")
        try:
            moved = await self.move(movement._replace(approved_by=name_of(approval.decided_by)))
        except CannotDecide as fault:
            raise CannotExecute(fault.detail, fault) from None
        if moved.status is Status.REFUSED and moved.fault is not None:
            raise CannotExecute(moved.fault.detail, moved.fault)
        if moved.status is Status.CONFLICT:  # while it was pending, the key was used for something else
            detail = f"{movement.key} was posted for something else meanwhile"
            raise CannotExecute(detail, CannotDecide("idempotency-key-reused", detail))

    async def _ask(self, movement: Adjustment | Reversal, why: str | None = None) -> Approval:
        proposal = Proposal(
            kind=ApprovalKind.ADJUSTMENT if isinstance(movement, Adjustment) else ApprovalKind.REVERSAL,
            subject=movement.key,
            country=movement.country,
            summary=_summary(movement) + (f" ({why})" if why else ""),
            document=document_of(movement),
            once=award_id(movement.key),
        )
        try:
            approval = await self.approvals.ask(proposal, Agent(movement.actor or "", movement.source))
        except CannotDecide as refused:
            raise CannotDecide(refused.kind, f"{why}; {refused.detail}" if why else refused.detail) from None
        first = read_movement(approval)
        if approval.subject != movement.key or first.fingerprint != movement.fingerprint:
            raise CannotDecide("idempotency-key-reused", reused_by_another(movement, first))
        return approval


def read_movement(approval: Approval) -> Adjustment | Reversal:
    """The movement that is asked for. Raises `CannotExecute`."""
    read = read_adjustment if approval.kind == ApprovalKind.ADJUSTMENT else read_reversal
    return read(approval.document)


def _summary(movement: Adjustment | Reversal) -> str:
    whose = f"{movement.program} of {movement.member_id} in {movement.country}"
    if isinstance(movement, Adjustment):
        return f"adjust {movement.points:+,} {whose}: {movement.reason}"
    return f"take back {movement.part:,} {whose}, of {movement.reverses}: {movement.reason}"
