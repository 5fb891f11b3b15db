"""`abacus exchanges files`: what goes to partners without a server, and their answers."""

from typing import Annotated

import typer

from abacus.cli.exchanges.named import programme_for
from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.errors import Refused
from abacus.exchanges.carriers.files.file_keeper import MOST_LINES
from abacus.exchanges.carriers.files.file_rows import FileRow, FileRows
from abacus.exchanges.decide.programme import ByFile
from abacus.people.types.deed import Deed

app = CommandGroup(no_args_is_help=True, help="Files of transfers: list them, and make one now.")

Programme = Annotated[str, typer.Argument(metavar="PROGRAMME", show_default=False)]


@app.command("list")
async def list_files(
    programme: Programme,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="How many at most.")] = 30,
) -> Answer:
    """List the files of a programme, the newest first: what each asked for, and what was answered."""
    async with actor() as at:
        found = await programme_for(at, programme)
        files = await FileRows(at.pool).listed(found.name, limit)
    rows = [[each.name, each.lines, each.amount, each.results, _stands(each)] for each in files]
    columns = ("file", "lines", "their points", "answered", "")
    return Answer([each._asdict() for each in files], Table(f"Files of {programme}", columns, rows))


@app.command("make")
async def make_file(programme: Programme) -> Answer:
    """Make a file of what waits now, before the cut-off; the exchanger writes it within seconds."""
    async with actor() as at:
        found = await programme_for(at, programme, Deed.RUN_JOBS)
        if not isinstance(found.carrier, ByFile):
            raise Refused(f"{programme} is not reached by files")
        await at.begins(Deed.RUN_JOBS, f"exchange_file:{programme}", country=found.country, did="make-file")
        now = at.clock.now()
        made = await FileRows(at.pool).make(
            found.name, found.partner, now.astimezone(found.zone).date(), now, MOST_LINES
        )
    return Answer(made._asdict(), f"{made.name}: {counted(made.lines, 'line')} over {made.amount:,} of their points")


def _stands(each: FileRow) -> str:
    if each.fault is not None:
        return f"not believed: {each.fault}"
    if each.accepted is False:
        return f"refused: {each.reason or 'no reason given'}"
    if each.answered_at is not None:
        return "answered"
    if each.received_at is not None:
        return "received"
    return "written" if each.written_at is not None else "to be written"
