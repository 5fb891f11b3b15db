"""`abacus`: every command in one tree, each loaded only when it is used."""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

import typer
from typer.core import TyperGroup

from abacus import __version__
from abacus.cli.terminal.shell import fail
from abacus.core.errors import AbacusError

if TYPE_CHECKING:
    from typer._click import Command, Context

# In the order of the help: a command, or a group of them, and where it is.
_COMMANDS: Final[Mapping[str, str]] = {
    "up": "house.up:up",
    "demo": "demo.command:demo",
    "worker": "house.worker:worker",
    "status": "house.status:status",
    "pulse": "house.pulse:pulse",
    "settings": "house.settings:settings",
    "migrate": "ledger.commands:migrate",
    "explain": "ledger.explain:explain",
    "where": "ledger.where:where",
    "reconcile": "ledger.reconcile:reconcile",
    "ledger": "ledger.commands:app",
    "import": "ledger.opening_balances:app",
    "rates": "rates.commands:app",
    "downstreams": "downstreams.commands:app",
    "events": "events.commands:app",
    "counters": "counters.commands:app",
    "campaigns": "campaigns.commands:app",
    "segments": "segments.commands:app",
    "tiers": "members.tiers:app",
    "expiry": "members.expiry:app",
    "points": "members.points:app",
    "adjustments": "members.adjustments:app",
    "report": "finance.report:app",
    "approvals": "people.approvals:app",
    "people": "people.commands:app",
    "console": "people.console:app",
    "partners": "partners.commands:app",
    "members": "members.commands:app",
    "notify": "members.notify:app",
    "quarantine": "quarantine.commands:app",
    "queues": "house.queues:app",
    "dlq": "house.queues:dead",
    "relay": "ledger.relay:app",
    "slices": "ledger.slices:app",
}
# The commands that a group holds besides those of its module.
_WITHIN: Final[Mapping[str, Mapping[str, str]]] = {
    "campaigns": {
        "simulate": "campaigns.campaign_simulate:simulate_campaign",
        "backtest": "campaigns.campaign_backtest:backtest_campaign",
        "report": "campaigns.campaign_report:report_campaign",
    },
    "counters": {"backfill": "counters.counter_backfill:backfill", "store": "counters.counter_store:app"},
    "rates": {"backtest": "rates.backtest:backtest", "quote": "rates.quote:quote"},
    "report": {
        "revenue": "finance.revenue:revenue",
        "allocate": "finance.revenue:allocate",
        "assumptions": "finance.revenue:app",
        "close": "finance.close:close",
    },
    "partners": {"webhook": "partners.webhooks:app"},
    "people": {"password": "people.people_entry:password", "totp": "people.people_entry:totp"},
    "members": {"transfers": "members.transfers:transfers"},
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
