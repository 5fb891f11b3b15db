"""`abacus tiers`: the operator's word on a member's tier."""

from typing import Annotated

import typer

from abacus.cli.shell import AsJson, console, pool, print_json, run, table, who
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.rates.store import CardStore
from abacus.tiers.store import Membership, MembershipStore

app = typer.Typer(help="Members' tiers.", no_args_is_help=True)


@app.command("set")
def set_tier(
    member: Annotated[str, typer.Argument(help="The member's id.")],
    tier: Annotated[str, typer.Argument(help="A tier that the program's cards price.")],
    program: Annotated[str, typer.Option(help="Which points, for example GRP.")],
    reason: Annotated[str, typer.Option(help="Why; kept with the tier.")],
    by: Annotated[str, typer.Option(help="Who decided; the login name where it is not given.")] = "",
    as_json: AsJson = False,
) -> None:
    """Give a member a tier in a program; the next transaction earns by it."""

    async def main() -> None:
        if not reason.strip():
            raise Refused("--reason: say why, it is kept with the tier")
        async with pool() as opened:
            priced = {
                name
                for published in await CardStore(opened).all()
                if published.card.program == program
                for name in published.card.tiers
            }
            if not priced:
                raise Refused(f"--program: no rate card issues {program!r}")
            if tier not in priced:
                raise Refused(f"no card of {program} prices the tier {tier!r}; there are {', '.join(sorted(priced))}")
            membership = await MembershipStore(opened, SystemClock()).set(
                (member, program), tier, reason=reason, actor=by or who()
            )
        if as_json:
            print_json(_document(membership))
        else:
            console.print(f"{member} is {tier} in {program}", highlight=False, markup=False)

    run(main())


@app.command("show")
def show(member: Annotated[str, typer.Argument(help="The member's id.")], as_json: AsJson = False) -> None:
    """The tiers that were set for a member, with who and why. Nobody listed is `member`."""

    async def main() -> None:
        async with pool() as opened:
            memberships = await MembershipStore(opened, SystemClock()).show(member)
        if as_json:
            print_json([_document(membership) for membership in memberships])
        else:
            rows = [[m.program, m.tier, m.reason, m.actor, m.set_at.isoformat()] for m in memberships]
            table(f"Tiers of {member}", ["program", "tier", "reason", "by", "set at"], rows)

    run(main())


def _document(membership: Membership) -> dict[str, str]:
    return {**membership._asdict(), "set_at": membership.set_at.isoformat()}
