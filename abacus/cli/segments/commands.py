"""`abacus segments`: load, change, combine and look at sets of members."""

from pathlib import Path
from typing import Annotated

import typer

from abacus.cli.segments.segment_changes import change, combine, drop_segment
from abacus.cli.segments.segment_files import Wanted
from abacus.cli.segments.segment_views import Name, export_segment, has_member, list_segments, show_segment
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.shell import CommandGroup
from abacus.signals.segments.types import How

app = CommandGroup(no_args_is_help=True, help="Segments: named sets of members, which campaigns ask for.")

Other = Annotated[str, typer.Argument(metavar="OTHER", show_default=False)]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[MEMBER]...", help="Ids of members.", show_default=False)]
File = Annotated[Path | None, typer.Option("--file", metavar="FILE", help="Members of a .csv or .parquet file, too.")]
Column = Annotated[str | None, typer.Option(metavar="NAME", help="The column with the members. Default: member_id.")]
NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line is a member already, and the first column has the members.")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Take the good lines of a file with bad ones.")]
Into = Annotated[str | None, typer.Option(metavar="NEW", help="Leave NAME as it is, and make this segment instead.")]
Country = Annotated[
    str | None,
    typer.Option(help="Of a new segment: who may publish segments in this country may change it. Default: in all."),
]


@app.command()
async def load(
    name: Name,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file.", show_default=False)],
    column: Column = None,
    no_header: NoHeader = False,
    skip_bad: SkipBad = False,
    country: Country = None,
) -> Answer:
    """Make a segment of the members in a file, or give a segment these members instead of its own.

    All lines are checked first; a file with a bad one changes nothing. Done again, it changes nothing. Exit 1 when
    there are bad lines.
    """
    wanted = Wanted((), file, column, named=not no_header, skip_bad=skip_bad)
    return await change(name, How.LOAD, wanted, country)


def _add_change(how: How, help_: str) -> None:
    @app.command(how.value, help=help_)
    async def change_members(
        name: Name,
        members: Ids = None,
        file: File = None,
        column: Column = None,
        no_header: NoHeader = False,
        skip_bad: SkipBad = False,
    ) -> Answer:
        wanted = Wanted(tuple(members or ()), file, column, named=not no_header, skip_bad=skip_bad)
        return await change(name, how, wanted)


def _add_combination(how: How, help_: str) -> None:
    @app.command(how.value, help=help_)
    async def combine_two(name: Name, other: Other, into: Into = None) -> Answer:
        return await combine(name, how, other, into)


_add_change(How.ADD, "Put members into a segment.")
_add_change(How.REMOVE, "Take members out of a segment.")
_add_combination(How.INTERSECT, "Keep the members that another segment has, too.")
_add_combination(How.UNION, "Put the members of another segment in, too.")
_add_combination(How.SUBTRACT, "Take the members of another segment out.")


app.command("drop")(drop_segment)
app.command("list")(list_segments)
app.command("show")(show_segment)
app.command("has")(has_member)
app.command("export")(export_segment)
