"""`abacus adjustments`: points that a person adds or takes, and their approval by a second person."""

from typing import Annotated, Any
from uuid import UUID, uuid4

import typer

from abacus.cli.points import By, Country, Desk, Key, Member, Program, desk, ordered, show
from abacus.cli.shell import AsJson, console, print_json, run, settings, table, who
from abacus.core.errors import Refused, SetAside
from abacus.core.sources import person_source
from abacus.intake.partners.orders import AdjustmentOrder, adjustment_of
from abacus.ledger.store.adjustments import Adjustments, CannotDecide, Requested, Step
from abacus.ledger.types.movement import Declined, Moved, Movement
from abacus.ledger.types.posting import Status

app = typer.Typer(help="Points that a person adds or takes.", no_args_is_help=True)

AdjustmentId = Annotated[UUID, typer.Argument(metavar="ADJUSTMENT", help="Its id, as `list` prints it.")]


@app.command("add", context_settings={"ignore_unknown_options": True})
def add(
    member: Member,
    points: Annotated[int, typer.Argument(metavar="POINTS", help="How many; -50 takes fifty.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the transfer.")],
    program: Program = None,
    country: Country = None,
    key: Key = None,
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Add points to a member, or take them. A large adjustment waits until a second person approves it."""
    order = ordered(AdjustmentOrder, points=points, reason=reason, program=program, country=country, actor=by or who())

    async def main() -> None:
        async with desk() as at:
            target = await at.target(member, order, may_open=True)
            source, now = person_source(order.actor), at.clock.now()
            request = adjustment_of(order, target, f"adjust:{key or uuid4()}", source, now)
            try:
                outcome = await _adjustments(at).ask(request, None)
            except CannotDecide as error:
                raise Refused(error.detail) from None
            if isinstance(outcome, Requested):
                _show([outcome], as_json=as_json)
            else:
                show(await at.posted(outcome), outcome.status is Status.DUPLICATE, as_json=as_json)

    run(main())


@app.command("list")
def list_adjustments(
    status: Annotated[Step | None, typer.Option(help="Only adjustments with this status.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the adjustments that need, or needed, a second person; the newest first."""

    async def main() -> None:
        async with desk() as at:
            _show(await _adjustments(at).all(status), as_json=as_json)

    run(main())


@app.command("approve")
def approve(adjustment: AdjustmentId, by: By = "", as_json: AsJson = False) -> None:
    """Approve an adjustment, as the second person. It is posted at once."""

    async def main() -> None:
        async with desk() as at:
            try:
                _, moved = await _adjustments(at).approve(adjustment, by or who())
            except (CannotDecide, Declined, SetAside) as error:
                raise Refused(error.detail) from None
            show(await at.posted(moved), moved.status is Status.DUPLICATE, as_json=as_json)

    run(main())


@app.command("reject")
def reject(
    adjustment: AdjustmentId,
    reason: Annotated[str, typer.Option(help="Why.")],
    by: By = "",
    as_json: AsJson = False,
) -> None:
    """Reject an adjustment, as the second person. Nothing is posted."""

    async def main() -> None:
        async with desk() as at:
            try:
                _show([await _adjustments(at).reject(adjustment, by or who(), reason)], as_json=as_json)
            except CannotDecide as error:
                raise Refused(error.detail) from None

    run(main())


def _adjustments(at: Desk) -> Adjustments:
    async def move(movement: Movement) -> Moved:
        (moved,) = await at.moves.move([movement])
        return moved

    return Adjustments(at.pool, move, at.clock, limit=settings().adjustment_limit)


def _show(adjustments: list[Requested], *, as_json: bool) -> None:
    if as_json:
        print_json({"adjustments": [_document(each) for each in adjustments]})
        return
    columns = ["adjustment", "member", "points", "reason", "by", "status"]
    table("Adjustments", columns, [_row(each) for each in adjustments])
    if any(each.status == Step.PENDING for each in adjustments):
        console.print("`abacus adjustments approve ID` is for somebody else than who asked", highlight=False)


def _row(each: Requested) -> list[str]:
    decided = f" by {each.decided_by}" if each.decided_by else ""
    return [
        str(each.adjustment_id),
        each.member_id,
        f"{each.points:+,} {each.program}",
        each.reason,
        each.actor,
        f"{each.status}{decided}{': ' + each.note if each.note else ''}",
    ]


def _document(each: Requested) -> dict[str, Any]:
    return {
        **each._asdict(),
        "adjustment_id": str(each.adjustment_id),
        "expires_on": each.expires_on.isoformat(),
        "asked_at": each.asked_at.isoformat(),
        "decided_at": each.decided_at.isoformat() if each.decided_at else None,
    }
