"""`abacus`: every command in one tree."""

import typer

from abacus import __version__
from abacus.cli import (
    adjustments,
    backtest,
    demo,
    expiry,
    importing,
    ledger,
    members,
    notify,
    partners,
    points,
    quarantine,
    queues,
    rates,
    reconcile,
    relay,
    report,
    revenue,
    tiers,
    up,
    webhooks,
    worker,
)
from abacus.cli.shell import fail
from abacus.core.errors import AbacusError

app = typer.Typer(
    name="abacus",
    help="Issues loyalty points for completed transactions, exactly once, and can prove every point.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

app.command("up")(up.up)
app.command("demo")(demo.demo)
app.command("worker")(worker.worker)
app.command("migrate")(ledger.migrate)
app.command("explain")(ledger.explain)
app.command("reconcile")(reconcile.reconcile)
app.add_typer(ledger.app, name="ledger")
app.add_typer(importing.app, name="import")
rates.app.command("backtest")(backtest.backtest)
app.add_typer(rates.app, name="rates")
app.add_typer(tiers.app, name="tiers")
app.add_typer(expiry.app, name="expiry")
app.add_typer(points.app, name="points")
app.add_typer(adjustments.app, name="adjustments")
report.app.command("revenue")(revenue.revenue)
report.app.command("allocate")(revenue.allocate)
report.app.add_typer(revenue.app, name="assumptions")
app.add_typer(report.app, name="report")
partners.app.add_typer(webhooks.app, name="webhook")
app.add_typer(partners.app, name="partners")
app.add_typer(members.app, name="members")
app.add_typer(notify.app, name="notify")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(queues.app, name="queues")
app.add_typer(queues.dead, name="dlq")
app.add_typer(relay.app, name="relay")


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
