"""`abacus approvals`: what waits for a second person, and deciding on it."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, NamedTuple
from uuid import UUID

import typer

from abacus.approving.executors import approving
from abacus.cli.terminal.answer import Answer, Table, tell
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.shell import CommandGroup, settings
from abacus.core.errors import Refused, absent
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.types.movement import Moved, Movement
from abacus.ledger.wiring import alone_of
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval, ApprovalKind, CannotDecide, CannotExecute, Status
from abacus.people.types.deed import Deed
from abacus.people.wiring import terms_of
from abacus.platform.postgres import Pool
from abacus.signals.events.wiring import built_in_sources

app = CommandGroup(help="What waits for a second person.", no_args_is_help=True)

ApprovalId = Annotated[UUID, typer.Argument(metavar="ID", help="Its id, as `list` prints it.")]

_SHORT = 16  # characters of a digest, in tables


class Room(NamedTuple):
    """The approvals, and who looks at them."""

    approvals: Approvals
    at: CommandActor

    async def find(self, approval_id: UUID) -> Approval:
        approval = await self.approvals.find(approval_id)
        if approval is None:
            raise absent("approval", approval_id, "`abacus approvals list` prints all")
        return approval


@app.command("list")
async def list_approvals(
    status: Annotated[Status | None, typer.Option(help="Only those with this status.")] = None,
    kind: Annotated[ApprovalKind | None, typer.Option(help="Only of this kind.")] = None,
) -> Answer:
    """List what needs, or needed, a second person; the newest first."""
    async with _room() as room:
        approvals = await room.approvals.all(status=status, kinds=[kind] if kind is not None else None)
    columns = ["approval", "what", "asked by", "digest", "status"]
    return Answer(
        {"approvals": [document(each) for each in approvals]},
        Table("Approvals", columns, [_row(each) for each in approvals]),
    )


@app.command("show")
async def show(approval: ApprovalId) -> Answer:
    """Show an approval: exactly what takes effect, and its digest."""
    async with _room() as room:
        shown = await room.find(approval)
    return Answer(document(shown), *_lines(shown))


@app.command("approve")
async def approve(
    approval: ApprovalId,
    digest: Annotated[
        str | None, typer.Option(help="The digest of what you looked at, at least 8 characters. A terminal asks.")
    ] = None,
) -> Answer:
    """Approve as the second person, with a person's token. It takes effect at once."""
    async with _room() as room:
        found = await room.find(approval)
        room.at.check(Deed.APPROVE, found.country)
        try:
            if digest is None:
                await room.approvals.check_approves(found, room.at.actor)
            done = await room.approvals.approve(approval, room.at.actor, digest or _seen(found))
        except (CannotDecide, CannotExecute) as error:
            raise Refused(error.detail) from None
    return Answer(document(done), f"{done.status}: {done.summary}")


@app.command("reject")
async def reject(approval: ApprovalId, reason: Annotated[str, typer.Option(help="Why.")]) -> Answer:
    """Reject it, or withdraw what you asked for. Nothing happens."""
    async with _room() as room:
        await room.find(approval)
        try:
            done = await room.approvals.reject(approval, room.at.actor, reason)
        except CannotDecide as error:
            raise Refused(error.detail) from None
    return Answer(document(done), f"rejected: {done.summary}")


def large_moves(opened: Pool, at: CommandActor) -> LargeMoves:
    """The large moves of a command, and with them the approvals of every kind."""
    moves = PostgresMoves(opened, at.clock)

    async def move(movement: Movement) -> Moved:
        (moved,) = await moves.move([movement])
        return moved

    config = settings()
    return approving(opened, at.clock, move, alone_of(config), built_in_sources(config), terms=terms_of(config))


def document(approval: Approval) -> dict[str, Any]:
    return {**approval._asdict(), "document": json.loads(approval.document)}


def waiting(approval: Approval) -> Answer:
    """What a command answers when a second person is asked."""
    lines = [f"{approval.status}, {approval.approval_id}: {approval.summary}"]
    if approval.status == Status.PENDING:
        lines.append(f"another person approves it: abacus approvals approve {approval.approval_id}")
    elif approval.status == Status.EXPIRED:
        lines.append(f"{approval.note}: ask for it again, under another key")
    return Answer({"approval": document(approval)}, *lines)


@asynccontextmanager
async def _room() -> AsyncIterator[Room]:
    async with actor() as at:
        yield Room(large_moves(at.pool, at).approvals, at)


def _seen(approval: Approval) -> str:
    """Show the document that would take effect, and ask; return its digest. Raises `Refused`."""
    if not sys.stdin.isatty():
        raise Refused("nobody can be asked here; --digest names what you looked at with `abacus approvals show`")
    tell(*_lines(approval))
    if not typer.confirm("approve", err=True):
        raise Refused("nothing was approved")
    return approval.digest


def _lines(approval: Approval) -> list[str]:
    return [
        approval.summary,
        json.dumps(json.loads(approval.document), indent=2, ensure_ascii=False),
        f"asked by {approval.asked_by} on {approval.asked_at:%Y-%m-%d %H:%M} UTC",
        _decided(approval),
        f"digest {approval.digest}",
    ]


def _decided(approval: Approval) -> str:
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    return f"{approval.status}{by}{': ' + approval.note if approval.note else ''}"


def _row(approval: Approval) -> list[object]:
    digest = approval.digest[:_SHORT]
    return [str(approval.approval_id), approval.summary, approval.asked_by, digest, _decided(approval)]
