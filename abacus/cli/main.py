"""`abacus`: every command in one tree, each loaded only when it is used."""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

import typer
from typer.core import TyperGroup

from abacus import __version__
from abacus.cli.terminal.answer import fail
from abacus.cli.terminal.shell import CommandGroup
from abacus.core.errors import AbacusError

if TYPE_CHECKING:
    from typer._click import Command, Context

# In the order of the help. A folder says its commands without loading them: `COMMANDS`, from a name to module and
# definition. A name of two words is a command within a group.
_FOLDERS: Final = (
    "house",
    "demo",
    "ledger",
    "documents",
    "rates",
    "downstreams",
    "events",
    "counters",
    "caches",
    "categories",
    "contact",
    "places",
    "offers",
    "campaigns",
    "rewards",
    "journeys",
    "exchanges",
    "segments",
    "members",
    "finance",
    "accounts",
    "people",
    "partners",
    "quarantine",
)


def _said_by(folder: str) -> dict[str, str]:
    said: Mapping[str, str] = importlib.import_module(f"abacus.cli.{folder}").COMMANDS
    return {name: f"abacus.cli.{folder}.{place}" for name, place in said.items()}


_PLACES: Final = {name: place for folder in _FOLDERS for name, place in _said_by(folder).items()}
_COMMANDS: Final = tuple(name for name in _PLACES if " " not in name)


class Commands(TyperGroup):
    """The commands of all folders, loaded when they are used."""

    def list_commands(self, ctx: "Context") -> list[str]:  # noqa: ARG002  # as it is called
        return list(_COMMANDS)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":  # noqa: ARG002  # as it is called
        # For an unknown name all commands are loaded, so that the error can suggest one of them.
        for name in (cmd_name,) if cmd_name in _COMMANDS else _COMMANDS:
            if name not in self.commands:
                self.commands[name] = _loaded(name)
        return self.commands.get(cmd_name)


@cache
def _loaded(name: str) -> "Command":
    alone = CommandGroup()
    _add(alone, name, _PLACES[name])
    return typer.main.get_group(alone).commands[name]


def _add(group: typer.Typer, name: str, place: str) -> None:
    module, _, attribute = place.partition(":")
    command = getattr(importlib.import_module(module), attribute)
    if not isinstance(command, typer.Typer):
        group.command(name)(command)
        return
    for inner, inner_place in _PLACES.items():
        within, _, inner_name = inner.partition(" ")
        if within == name and inner_name:
            _add(command, inner_name, inner_place)
    group.add_typer(command, name=name)


app = typer.Typer(
    name="abacus",
    cls=Commands,
    help="Issues loyalty points for completed transactions, exactly once, and can prove every point.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"abacus {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Issues loyalty points for completed transactions, exactly once, and can prove every point."""


def main() -> None:
    """The entry point. An expected failure ends in one line, wherever it was raised."""
    try:
        app()
    except AbacusError as error:
        try:
            fail(error)
        except typer.Exit as ending:
            raise SystemExit(ending.exit_code) from None
