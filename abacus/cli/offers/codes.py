"""`abacus offers codes`: the single codes of offers."""

import csv
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.files import usable
from abacus.cli.terminal.known import check_country
from abacus.cli.terminal.progress import bars
from abacus.cli.terminal.shell import CommandGroup, secrets
from abacus.core.codes import spelled
from abacus.core.errors import Refused, absent
from abacus.documents.decide.heading import NAME_PATTERN
from abacus.engage.offers.codes.desk import MOST_DRAWN, CodeDesk, drawn_codes, named_at
from abacus.engage.offers.codes.loader import Batch, Loaded
from abacus.engage.offers.codes.pools import BatchState, PoolState, pool_states
from abacus.engage.offers.decide.code_file import codes_of
from abacus.people.types.deed import Deed

app = CommandGroup(
    no_args_is_help=True, help="Single codes of offers: load or make them, and see how many are used and free."
)

_SHOWN: Final = ("batch", "loaded", "used", "held", "free", "made_at", "made_by", "withdrawn_at")
_TELL_EVERY: Final = 10_000
_MOST_PRINTED: Final = 1_000
_LONGEST_NAME: Final = 100

Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the offer.", show_default=False)]
Country = Annotated[
    str | None, typer.Option(metavar="CC", help="Of an offer that is not drafted yet.", show_default=False)
]


@app.command()
async def load(
    name: Name,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="One code a line, or a CSV with a column code.", show_default=False)
    ],
    batch: Annotated[str | None, typer.Option(metavar="TEXT", help="Default: the name of the file.")] = None,
    country: Country = None,
    checked: Annotated[
        bool, typer.Option("--checked", help="All codes were made by Abacus: refuse a wrong check character.")
    ] = False,
) -> Answer:
    """Load the codes of a file, each of which is used once. They are kept as digests: nobody sees them again.

    All lines are checked first; a file with a bad one changes nothing. A code that is there already is passed over, so
    a load that was cut off is done again.
    """
    with _read(file, is_checked=checked) as codes:
        count = sum(1 for _ in codes)
    if not count:
        raise Refused(f"{file}: no code")
    async with actor() as at:
        desk, into = await _batch(at, name, batch or file.stem, country, is_checked=checked)
        with _read(file, is_checked=checked) as codes, _progress("loading", count) as told:
            loaded = await desk.load(into, told(codes), at.actor, file=file.name)
        state = await _pool(desk, name)
    return Answer({**_told(into, loaded), "free": state.free}, _said(into, loaded, state))


@app.command()
async def generate(
    name: Name,
    count: Annotated[int, typer.Option(min=1, max=MOST_DRAWN, help="How many.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"A new file; needed beyond {_MOST_PRINTED:,} codes.", show_default=False),
    ] = None,
    batch: Annotated[str | None, typer.Option(metavar="TEXT", help="Default: made-TIME.")] = None,
    country: Country = None,
) -> Answer:
    """Make codes, of letters that nobody confuses and a check character. They are shown this once, one a line.

    The file is written before the codes are loaded. If the command was cut off, load the file: `abacus offers codes
    load NAME FILE --checked`.
    """
    if output is None and count > _MOST_PRINTED:
        raise Refused(f"--output: name a file for more than {_MOST_PRINTED:,} codes")
    async with actor() as at:
        desk, into = await _batch(at, name, batch or named_at("made", at.clock.now()), country, is_checked=True)
        made, file = drawn_codes(count), output.name if output else None
        opened = _read(_written(output, made), is_checked=True) if output else nullcontext(list(made))
        with opened as codes, _progress("making", count) as told:
            loaded = await desk.load(into, told(codes), at.actor, file=file)
        state = await _pool(desk, name)
    document, said = {**_told(into, loaded), "free": state.free}, _said(into, loaded, state)
    if output is not None:
        return Answer({**document, "file": str(output)}, f"{said}; they are in {output}, and nowhere else")
    shown = list(map(spelled, codes))
    return Answer({**document, "codes": shown}, *shown)


@app.command("list")
async def list_pools() -> Answer:
    """List the offers with single codes: how many are loaded, used, reserved and free."""
    async with actor() as at:
        pools = pool_states(await CodeDesk(at.pool, at.clock, secrets()).batches())
    return Answer(
        [each._asdict() for each in pools], Table("Codes of offers", PoolState._fields, [list(each) for each in pools])
    )


@app.command()
async def show(name: Name) -> Answer:
    """Show the batches of an offer's codes: how many are loaded, used, reserved and free."""
    async with actor() as at:
        batches = await CodeDesk(at.pool, at.clock, secrets()).batches(name)
    if not batches:
        raise absent("offer with single codes", name)
    return Answer([_row(each) for each in batches], Table(f"Codes of {name}", _SHOWN, _cells(batches)))


@app.command("withdraw")
async def withdraw_batch(
    name: Name, batch: Annotated[str, typer.Argument(metavar="BATCH", help="As `show` names it.", show_default=False)]
) -> Answer:
    """Let nobody take a code of a batch any more: a file that was sent to the wrong people. What is reserved stays."""
    async with actor() as at:
        desk = CodeDesk(at.pool, at.clock, secrets())
        country = await desk.country(name, None)
        at.check(Deed.EDIT_OFFERS, country)
        await desk.withdraw(name, batch, country, at.actor)
    return Answer({"offer": name, "batch": batch, "withdrawn": True}, f"{name}: the batch {batch} is withdrawn")


async def _batch(
    at: CommandActor, name: str, batch: str, country: str | None, *, is_checked: bool
) -> tuple[CodeDesk, Batch]:
    """Raises `Refused` where the actor may not."""
    if len(batch) > _LONGEST_NAME or not batch.isprintable():
        raise Refused(f"--batch: write at most {_LONGEST_NAME} characters")
    if re.fullmatch(NAME_PATTERN, name) is None:
        raise Refused(f"{name!r} is no name of an offer")
    check_country(country)
    desk = CodeDesk(at.pool, at.clock, secrets())
    whose = await desk.country(name, country)
    at.check(Deed.EDIT_OFFERS, whose)
    return desk, Batch(name, whose, batch, is_checked, at.actor.source)


async def _pool(desk: CodeDesk, name: str) -> PoolState:
    (state,) = pool_states(await desk.batches(name))
    return state


@contextmanager
def _read(file: Path, *, is_checked: bool) -> Iterator[Iterator[str]]:
    """Raises `Refused`."""
    with usable(file):
        try:
            with file.open(encoding="utf-8", newline="") as lines:
                yield codes_of(csv.reader(lines), is_checked=is_checked)
        except (UnicodeDecodeError, csv.Error) as error:
            raise Refused(f"{file}: {error}") from None
        except Refused as error:
            raise Refused(f"{file}: {error}") from None


def _written(file: Path, codes: Iterable[str]) -> Path:
    """A new file with these codes, which its owner alone may read. Raises `Refused` where there is such a file."""
    with usable(file, "--output"), file.open("x", encoding="ascii", newline="\n") as opened:
        file.chmod(0o600)
        opened.writelines(f"{spelled(code)}\n" for code in codes)
        opened.flush()
        os.fsync(opened.fileno())
    return file


@contextmanager
def _progress(what: str, count: int) -> Iterator[Callable[[Iterable[str]], Iterator[str]]]:
    """Tells how many codes have passed."""
    with bars() as shown:
        task = shown.add_task(what, total=count)

        def told(codes: Iterable[str]) -> Iterator[str]:
            for number, code in enumerate(codes, 1):
                yield code
                if number % _TELL_EVERY == 0:
                    shown.update(task, completed=number)

        yield told


def _told(batch: Batch, loaded: Loaded) -> dict[str, object]:
    return {"offer": batch.offer, "batch": batch.name, **loaded._asdict()}


def _said(batch: Batch, loaded: Loaded, state: PoolState) -> str:
    known = f", {loaded.known:,} were there already or stand twice" if loaded.known else ""
    return f"{batch.offer}: {counted(loaded.new, 'new code')}{known}; {state.free:,} are free"


def _row(batch: BatchState) -> dict[str, object]:
    return {name: getattr(batch, name) for name in _SHOWN}


def _cells(batches: Iterable[BatchState]) -> list[list[object]]:
    return [list(_row(each).values()) for each in batches]
