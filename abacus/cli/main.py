"""`abacus`: every command in one tree, each loaded only when it is asked for."""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import typer
from typer.core import TyperGroup

from abacus import __version__
from abacus.cli.shell import fail
from abacus.core.errors import AbacusError

if TYPE_CHECKING:
    from typer._click import Command, Context

# In the order of the help: a command, or a group of them, and where it is.
_COMMANDS: Final[Mapping[str, str]] = {
    "up": "up:up",
    "demo": "demo.command:demo",
    "worker": "worker:worker",
    "migrate": "ledger:migrate",
    "explain": "ledger:explain",
    "reconcile": "reconcile:reconcile",
    "ledger": "ledger:app",
    "import": "importing:app",
    "rates": "rates:app",
    "tiers": "tiers:app",
    "expiry": "expiry:app",
    "points": "points:app",
    "adjustments": "adjustments:app",
    "report": "report:app",
    "partners": "partners:app",
    "members": "members:app",
    "notify": "notify:app",
    "quarantine": "quarantine:app",
    "queues": "queues:app",
    "dlq": "queues:dead",
    "relay": "relay:app",
}
# What a group holds besides its module's own commands.
_WITHIN: Final[Mapping[str, Mapping[str, str]]] = {
    "rates": {"backtest": "backtest:backtest"},
    "report": {"revenue": "revenue:revenue", "allocate": "revenue:allocate", "assumptions": "revenue:app"},
    "partners": {"webhook": "webhooks:app"},
}


class Commands(TyperGroup):
    """Those of `_COMMANDS`."""

    def list_commands(self, ctx: "Context") -> list[str]:  # noqa: ARG002  # as it is called
        return list(_COMMANDS)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":  # noqa: ARG002  # as it is called
        # For a name that is not there all are loaded: the one that was meant is looked for among them.
        for name in (cmd_name,) if cmd_name in _COMMANDS else _COMMANDS:
            if name not in self.commands:
                self.commands[name] = _loaded(name)
        return self.commands.get(cmd_name)


def _loaded(name: str) -> "Command":
    alone = typer.Typer()
    _add(alone, name, _COMMANDS[name])
    return typer.main.get_group(alone).commands[name]


def _add(group: typer.Typer, name: str, place: str) -> None:
    module, _, attribute = place.partition(":")
    found = getattr(importlib.import_module(f"abacus.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        group.command(name)(found)
        return
    for inner, inner_place in _WITHIN.get(name, {}).items():
        _add(found, inner, inner_place)
    group.add_typer(found, name=name)


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
    """The entry point. What fails on purpose ends in one line, wherever it was raised."""
    try:
        app()
    except AbacusError as error:
        try:
            fail(error)
        except typer.Exit as ending:
            raise SystemExit(ending.exit_code) from None
