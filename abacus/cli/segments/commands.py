"""`abacus segments`: load, change, combine and look at sets of members."""

from pathlib import Path
from typing import Annotated

import typer

from abacus.cli.segments.segment_changes import change, combine, drop_segment, load_file
from abacus.cli.segments.segment_files import Wanted
from abacus.cli.segments.segment_views import Name, export_segment, has_member, list_segments, show_segment
from abacus.cli.terminal.shell import AsJson, CommandGroup
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
    as_json: AsJson = False,
) -> None:
    """Make a segment of the members in a file, or give a segment these members instead of its own.

    All lines are checked first; a file with a bad one changes nothing. Done again, it changes nothing. Exit 1 when
    there are bad lines.
    """
    wanted = Wanted((), file, column, named=not no_header, skip_bad=skip_bad)
    await load_file(name, wanted, country, as_json=as_json)


@app.command()
async def add(
    name: Name,
    members: Ids = None,
    file: File = None,
    column: Column = None,
    no_header: NoHeader = False,
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Put members into a segment."""
    wanted = Wanted(tuple(members or ()), file, column, named=not no_header, skip_bad=skip_bad)
    await change(name, How.ADD, wanted, as_json=as_json)


@app.command()
async def remove(
    name: Name,
    members: Ids = None,
    file: File = None,
    column: Column = None,
    no_header: NoHeader = False,
    skip_bad: SkipBad = False,
    as_json: AsJson = False,
) -> None:
    """Take members out of a segment."""
    wanted = Wanted(tuple(members or ()), file, column, named=not no_header, skip_bad=skip_bad)
    await change(name, How.REMOVE, wanted, as_json=as_json)


@app.command()
async def intersect(name: Name, other: Other, into: Into = None, as_json: AsJson = False) -> None:
    """Keep the members that another segment has, too."""
    await combine(name, How.INTERSECT, other, into, as_json=as_json)


@app.command()
async def union(name: Name, other: Other, into: Into = None, as_json: AsJson = False) -> None:
    """Put the members of another segment in, too."""
    await combine(name, How.UNION, other, into, as_json=as_json)


@app.command()
async def subtract(name: Name, other: Other, into: Into = None, as_json: AsJson = False) -> None:
    """Take the members of another segment out."""
    await combine(name, How.SUBTRACT, other, into, as_json=as_json)


@app.command()
async def drop(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Drop it without asking. Only a terminal is asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Leave nobody in a segment, and list it no more. A campaign that asks for it finds no member in it."""
    await drop_segment(name, yes=yes, as_json=as_json)


app.command("list")(list_segments)
app.command("show")(show_segment)
app.command("has")(has_member)
app.command("export")(export_segment)
