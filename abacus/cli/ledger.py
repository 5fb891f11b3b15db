"""`abacus migrate`, and the tree of `abacus ledger`."""

from typing import Annotated

import typer

from abacus.cli import seals
from abacus.cli import verify as verifying
from abacus.cli.shell import AsJson, console, print_json, run, settings
from abacus.platform.migrations import distribute, make_sandbox
from abacus.platform.migrations import migrate as migrate_database

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
