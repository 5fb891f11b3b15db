"""`abacus rewards codes`: the pools whose codes rewards give away."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import CommandGroup, secrets
from abacus.core.errors import Refused
from abacus.engage.rewards.decide.reward_reader import is_pool_name
from abacus.engage.rewards.pools import CodeLoader, pool_states, read_codes
from abacus.people.types.deed import Deed

app = CommandGroup(no_args_is_help=True, help="Pools of codes: load them, and see how many are free.")

_COLUMNS: Final = ("pool", "loaded", "free", "since")


@app.command()
async def load(
    pool: Annotated[str, typer.Argument(metavar="POOL", help="Made if it is new.", show_default=False)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="One code a line.", show_default=False)],
) -> Answer:
    """Load the codes of a file into a pool, encrypted. A code that is there already is passed over, so that a load that
    was interrupted is done again.
    """
    if not is_pool_name(pool):
        raise Refused(f"{pool!r} is not a name; write at most 64 small letters, digits and underscores (coffee_codes)")
    async with actor() as at:
        check_readable(file)
        await at.begins(Deed.EDIT_REWARDS, f"reward_pool:{pool}", did="load-codes", file=file.name)
        loaded = await CodeLoader(at.pool, secrets()).load(pool, _codes(file), at.clock.now())
        (state,) = await pool_states(at.pool, pool)
    document = {"pool": pool, "new": loaded.new, "known": loaded.known, "free": state.free}
    known = f", {loaded.known:,} were there" if loaded.known else ""
    return Answer(document, f"{pool}: {counted(loaded.new, 'new code')}{known}; {state.free:,} are free")


@app.command("list")
async def list_pools() -> Answer:
    """List the pools, and how many of their codes are free."""
    async with actor() as at:
        found = await pool_states(at.pool)
    rows = [[each.name, each.loaded, each.free, str(each.made_at)] for each in found]
    return Answer([each._asdict() for each in found], Table("Pools of codes", _COLUMNS, rows))


def check_readable(file: Path) -> None:
    """Every line is read before the first is entered: a file with a bad line changes nothing. Raises `Refused`."""
    some = False
    for _ in _codes(file):
        some = True
    if not some:
        raise Refused(f"{file}: no code")


def _codes(file: Path) -> Iterator[str]:
    """Raises `Refused`."""
    try:
        with file.open(encoding="utf-8") as lines:
            yield from read_codes(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{file}: {error}") from None
