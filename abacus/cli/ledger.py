"""`abacus migrate`, `abacus explain`, `abacus ledger verify`."""

import json
from decimal import Decimal
from typing import Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from abacus.cli.shell import EXIT_FAILED, AsJson, console, counted, errors, pool, print_json, run, settings
from abacus.core.errors import Refused
from abacus.core.ids import award_id
from abacus.earning.recompute import recompute
from abacus.ledger.award import Kind
from abacus.ledger.read import LedgerReader
from abacus.ledger.transfer import Transfer
from abacus.ledger.verify import verify as verify_ledger
from abacus.migrations import migrate as migrate_database
from abacus.rates.book import CardBook
from abacus.rates.store import CardStore

app = typer.Typer(help="Prove the ledger.", no_args_is_help=True)


def migrate(as_json: AsJson = False) -> None:
    """Bring the database to the schema of this version. Doing it again changes nothing."""

    async def main() -> None:
        before, after = await migrate_database(settings().required("database_url"))
        if as_json:
            print_json({"before": before, "after": after})
        else:
            console.print(f"schema {after}" + (" (nothing to do)" if before == after else f", was {before or 'empty'}"))

    run(main())


def explain(
    key: Annotated[
        str, typer.Argument(help="Its key, for example txn:rides:T-1001, or expiry:2026-07:MEMBER:PROGRAM.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show how points were awarded, and calculate them again from the card; or how they lapsed."""

    async def main() -> None:
        async with pool() as opened:
            reader = LedgerReader(opened)
            claim = await reader.claim(key)
            transfer = await reader.transfer(claim) if claim else None
            if claim is None or transfer is None:
                raise Refused(f"no award has the key {key!r}; it may be on its way, in the quarantine, or never sent")
            book = CardBook(await CardStore(opened).all())
        difference = recompute(transfer, book)
        if as_json:
            print_json(_document(transfer, difference))
        else:
            for line in explained(transfer, difference):
                console.print(line, highlight=False, markup=False, soft_wrap=True)

    run(main())


def explained(transfer: Transfer, difference: str | None) -> list[str]:
    """The calculation in a few lines, as a person would write it down."""
    explanation = json.loads(transfer.explanation, parse_float=Decimal)
    lines = [
        f"{transfer.key}: {transfer.points} points ({transfer.program}) for {transfer.member_id}",
        f"  occurred {transfer.occurred_at.isoformat()}, posted {transfer.posted_at.isoformat()}",
        f"  as #{transfer.seq} of the account: balance {transfer.balance_after}, good until {transfer.expires_on}",
    ]
    if transfer.kind == Kind.EXPIRE:
        lines.append(
            f"  good until {explanation['expired_on']}: of {explanation['balance']} points"
            f" {explanation['held']} were held and stay"
        )
    elif transfer.kind == Kind.ADJUST:
        lines.append(f"  {explanation['reason']}, by {explanation['by']} ({transfer.actor})")
    elif "fixed" in explanation:
        lines.append(f"  {explanation['fixed']}: {explanation['points']} points fixed by {explanation['card']}")
    elif "granted_by" in explanation:
        lines.append(f"  granted by the partner {explanation['granted_by']}: {explanation['reason']}")
    else:
        factors = " x ".join(f"{value} ({kind} {name})" for kind, name, value in explanation["factors"])
        lines.append(f"  {explanation['amount']} {explanation['currency']} x {factors}")
        lines.append(
            f"  = {explanation['product']}, {explanation['rounding']} = {explanation['points']} points,"
            f" by card {explanation['card']}"
        )
    lines.append(f"  recomputed now: {difference or 'same'}")
    return lines


def _document(transfer: Transfer, difference: str | None) -> dict[str, Any]:
    return {
        "award_id": str(award_id(transfer.key)),
        "key": transfer.key,
        "member_id": transfer.member_id,
        "program": transfer.program,
        "seq": transfer.seq,
        "kind": str(transfer.kind),
        "points": transfer.points,
        "balance_after": transfer.balance_after,
        "occurred_at": transfer.occurred_at.isoformat(),
        "posted_at": transfer.posted_at.isoformat(),
        "expires_on": transfer.expires_on.isoformat() if transfer.expires_on else None,
        "explanation": json.loads(transfer.explanation),
        "recomputed": difference or "same",
    }


@app.command()
def verify(
    member: Annotated[str | None, typer.Option(help="Only this member.")] = None, as_json: AsJson = False
) -> None:
    """Recompute every balance, sequence, hash chain and explanation from the rows. Exit 1 when a row is wrong."""

    async def main() -> None:
        async with pool() as opened:
            book = CardBook(await CardStore(opened).all())
            columns = (SpinnerColumn(), TextColumn("{task.completed:,} transfers"), TimeElapsedColumn())
            with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
                task = progress.add_task("", total=None)
                report = await verify_ledger(
                    opened,
                    lambda transfer: recompute(transfer, book),
                    member_id=member,
                    progress=lambda done: progress.update(task, completed=done),
                )
        if as_json:
            print_json(
                {
                    "clean": report.clean,
                    "accounts": report.accounts,
                    "transfers": report.transfers,
                    "faults": [fault._asdict() for fault in report.faults],
                    "more_faults": report.more_faults,
                }
            )
        else:
            for fault in report.faults:
                console.print(str(fault), style="red", highlight=False, markup=False, soft_wrap=True)
            verdict = "clean" if report.clean else counted(len(report.faults) + report.more_faults, "fault")
            checked = f"{counted(report.accounts, 'account')}, {counted(report.transfers, 'transfer')}"
            console.print(f"{checked}: {verdict}", highlight=False)
        if not report.clean:
            raise typer.Exit(EXIT_FAILED)

    run(main())
