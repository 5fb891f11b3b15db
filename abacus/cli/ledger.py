"""`abacus migrate`, `abacus explain`, and the tree of `abacus ledger`."""

import json
from typing import Annotated, Any

import typer

from abacus.cli import seals
from abacus.cli import verify as verifying
from abacus.cli.explained import in_words
from abacus.cli.shell import AsJson, console, pool, print_json, run, settings
from abacus.core.errors import Refused
from abacus.core.ids import award_id
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.transfer import Transfer
from abacus.platform.migrations import distribute, make_sandbox
from abacus.platform.migrations import migrate as migrate_database
from abacus.pricing.decide.book import CardBook
from abacus.pricing.explanation.text import UnknownExplanation, UnreadableExplanation, read
from abacus.pricing.store.cards import CardStore
from abacus.proof.decide.recompute import recompute

app = typer.Typer(help="Prove the ledger.", no_args_is_help=True)
app.command("verify")(verifying.verify)
app.command("seal")(seals.seal)
app.command("seals")(seals.show_seals)
app.command("prove")(seals.prove)
app.command("check-proof")(seals.check_proof)


def migrate(
    citus: Annotated[
        bool, typer.Option("--citus", help="Then spread the tables over the servers of Citus; see docs/scaling.md.")
    ] = False,
    sandbox: Annotated[
        bool, typer.Option("--sandbox", help="Then make the sandbox of test keys, if there is none.")
    ] = False,
    new_sandbox: Annotated[
        bool, typer.Option("--new-sandbox", help="Then make the sandbox anew: all test keys and test points are gone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the database to the schema of this version, the sandbox too. Doing it again changes nothing."""

    async def main() -> None:
        url = settings().required("database_url")
        before, after = await migrate_database(url)
        spread = await distribute(url) if citus else None
        if sandbox or new_sandbox:
            await make_sandbox(url, anew=new_sandbox)
        if as_json:
            print_json({"before": before, "after": after} | ({} if spread is None else {"spread": spread}))
            return
        console.print(f"schema {after}" + (" (nothing to do)" if before == after else f", was {before or 'empty'}"))
        if sandbox or new_sandbox:
            console.print("test keys have a sandbox; the API looks for it when it starts")
        if spread is not None:
            console.print(f"spread over the servers: {', '.join(spread) or 'nothing more'}")

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
                raise Refused(f"no award has the key {key!r}; `abacus where` says where it is")
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
    lines = [
        f"{transfer.key}: {transfer.points} points ({transfer.program}) for {transfer.member_id}",
        f"  occurred {transfer.occurred_at.isoformat()}, posted {transfer.posted_at.isoformat()}",
        f"  as #{transfer.seq} of the account: balance {transfer.balance_after}, good until {transfer.expires_on}",
    ]
    try:
        lines += [f"  {line}" for line in in_words(read(transfer.explanation), transfer.actor)]
    except UnknownExplanation:
        lines.append("  this version of Abacus does not know such an explanation:")
        lines.append(f"  {transfer.explanation.decode()}")
    except UnreadableExplanation as fault:
        lines.append(f"  the explanation cannot be read: {fault.detail}:")
        lines.append(f"  {transfer.explanation.decode()}")
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
        "reverses": transfer.reverses,
        "actor": transfer.actor,
        "explanation": json.loads(transfer.explanation),
        "recomputed": difference or "same",
    }
