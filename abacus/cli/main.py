"""`abacus`: every command in one tree, each loaded only when it is used."""

import importlib
from collections.abc import Mapping
from functools import cache
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
    "status": "status:status",
    "pulse": "pulse:pulse",
    "settings": "settings:settings",
    "migrate": "ledger:migrate",
    "explain": "explain:explain",
    "where": "where:where",
    "reconcile": "reconcile:reconcile",
    "ledger": "ledger:app",
    "import": "importing:app",
    "rates": "rates:app",
    "downstreams": "downstreams:app",
    "events": "events:app",
    "counters": "counters:app",
    "campaigns": "campaigns:app",
    "segments": "segments:app",
    "tiers": "tiers:app",
    "expiry": "expiry:app",
    "points": "points:app",
    "adjustments": "adjustments:app",
    "report": "report:app",
    "approvals": "approvals:app",
    "people": "people:app",
    "console": "console:app",
    "partners": "partners:app",
    "members": "members:app",
    "notify": "notify:app",
    "quarantine": "quarantine:app",
    "queues": "queues:app",
    "dlq": "queues:dead",
    "relay": "relay:app",
    "slices": "slices:app",
}
# The commands that a group holds besides those of its module.
_WITHIN: Final[Mapping[str, Mapping[str, str]]] = {
    "campaigns": {
        "simulate": "campaign_simulate:simulate_campaign",
        "backtest": "campaign_backtest:backtest_campaign",
        "report": "campaign_report:report_campaign",
    },
    "counters": {"backfill": "counter_backfill:backfill", "store": "counter_store:app"},
    "rates": {"backtest": "backtest:backtest", "quote": "quote:quote"},
    "report": {
        "revenue": "revenue:revenue",
        "allocate": "revenue:allocate",
        "assumptions": "revenue:app",
        "close": "close:close",
    },
    "partners": {"webhook": "webhooks:app"},
    "people": {"password": "people_entry:password", "totp": "people_entry:totp"},
    "members": {"transfers": "transfers:transfers"},
}


class Commands(TyperGroup):
    """The commands of `_COMMANDS`, loaded when they are used."""

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
    alone = typer.Typer()
    _add(alone, name, _COMMANDS[name])
    return typer.main.get_group(alone).commands[name]


def _add(group: typer.Typer, name: str, place: str) -> None:
    module, _, attribute = place.partition(":")
    command = getattr(importlib.import_module(f"abacus.cli.{module}"), attribute)
    if not isinstance(command, typer.Typer):
        group.command(name)(command)
        return
    for inner, inner_place in _WITHIN.get(name, {}).items():
        _add(command, inner, inner_place)
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
