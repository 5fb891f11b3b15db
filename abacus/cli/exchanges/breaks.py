"""`abacus exchanges breaks`: where two books differ, who looks into it, and why it was closed."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

import typer

from abacus.cli.exchanges.named import programme_for
from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import checked_reason
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.errors import Refused
from abacus.core.money_text import read_sum
from abacus.exchanges.books.break_rows import FoundBreak
from abacus.exchanges.books.desk import BooksDesk
from abacus.exchanges.decide.matching import BreakKind
from abacus.people.decide.rights import countries_of
from abacus.people.types.deed import Deed

app = CommandGroup(no_args_is_help=True, help="Breaks: where our book and a partner's differ.")

BreakId = Annotated[str, typer.Argument(metavar="BREAK", help="Its id.", show_default=False)]


@app.command("list")
async def list_breaks(
    programme: Annotated[str | None, typer.Option("--programme", metavar="NAME")] = None,
    kind: Annotated[BreakKind | None, typer.Option("--kind")] = None,
    *,
    closed: Annotated[bool, typer.Option("--closed", help="Closed breaks.")] = False,
) -> Answer:
    """List breaks, the newest first: each with its kind, its age and its owner."""
    async with actor() as at:
        seen = countries_of(at.actor, Deed.SEE)
        found = await BooksDesk(at.pool, at.clock).breaks(
            programme=programme, kind=kind, countries=seen, is_open=not closed
        )
    rows = [
        [each.break_id, each.programme, each.kind, each.about, each.ours, each.theirs, each.found_at, _owner(each)]
        for each in found
    ]
    columns = ("id", "programme", "kind", "about", "ours", "theirs", "since", "owner")
    return Answer([each._asdict() for each in found], Table("Breaks", columns, rows))


@app.command("take")
async def take_break(break_id: BreakId) -> Answer:
    """Take a break: from now on it is yours."""
    async with actor() as at:
        desk = BooksDesk(at.pool, at.clock)
        found = await desk.the_break(_id(break_id))
        at.check(Deed.CLOSE_BOOKS, found.country)
        taken = await desk.take(found, at.actor)
    return Answer(taken._asdict(), f"{taken.programme} {taken.kind} {taken.about}: it is yours now")


@app.command("close")
async def close_break(
    break_id: BreakId,
    reason: Annotated[str, typer.Option("--reason", help="Why both books may differ.", show_default=False)],
    correction: Annotated[
        str | None, typer.Option("--correction", metavar="SUM", help="By which the balance is put right.")
    ] = None,
) -> Answer:
    """Close a break, with a reason for the record, and with a correction of the balance where money is to move."""
    checked_reason(reason)
    money: Decimal | None = None if correction is None else read_sum(correction)
    async with actor() as at:
        desk = BooksDesk(at.pool, at.clock)
        found = await desk.the_break(_id(break_id))
        programme = await programme_for(at, found.programme, Deed.CLOSE_BOOKS)
        closed = await desk.close(found, at.actor, reason, correction=money, currency=programme.money.currency)
    told = "" if money is None else f", the balance is corrected by {money} {programme.money.currency}"
    return Answer(closed._asdict(), f"{closed.programme} {closed.kind} {closed.about}: closed{told}")


def _id(text: str) -> UUID:
    """Raises `Refused`."""
    try:
        return UUID(text)
    except ValueError:
        raise Refused(f"{text!r} is no id of a break; `abacus exchanges breaks list` prints them") from None


def _owner(each: FoundBreak) -> str:
    if each.closed_by is not None:
        return f"closed by {each.closed_by}: {each.reason}"
    agrees = ", both agree again" if each.tied_at is not None else ""
    return (each.owner or "nobody") + agrees
