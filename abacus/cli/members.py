"""`abacus members`: what a member has, or had."""

from typing import Annotated

import typer

from abacus.cli.shell import AsJson, moment, pool, print_json, run, table
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.partners.members import MemberReader

app = typer.Typer(help="Members.", no_args_is_help=True)


@app.command("show")
def show(
    member: Annotated[str, typer.Argument(help="The member's id.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="A time that is past, with an offset; now if left out.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """A member's accounts: as they are, or as the transfers posted until a time left them."""

    async def main() -> None:
        at = moment("--as-of", as_of) if as_of is not None else None
        if at is not None and at > SystemClock().now():
            raise Refused(f"--as-of: {as_of} is still to come")
        async with pool() as opened:
            reader = MemberReader(opened)
            if at is None:
                found = [holding.now for holding in await reader.holdings(member)]
            else:
                found = list(await reader.as_of(member, at))
        if as_json:
            accounts = [{**each._asdict(), "available": each.available} for each in found]
            print_json({"member_id": member, "as_of": at and at.isoformat(), "accounts": accounts})
            return
        rows = [
            [
                each.program,
                each.country,
                *(f"{points:,}" for points in (each.balance, each.held, each.available)),
                each.tier,
                str(each.expires_on or ""),
            ]
            for each in found
        ]
        columns = ["program", "country", "balance", "held", "available", "tier", "good until"]
        table(f"Accounts of {member}" + (f" as of {at.isoformat()}" if at is not None else ""), columns, rows)

    run(main())
