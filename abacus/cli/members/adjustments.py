"""`abacus adjustments`: points that a person adds or takes."""

from typing import Annotated
from uuid import uuid4

import typer

from abacus.cli.members.points import Country, Key, Member, Program, desk, ordered
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.shell import CommandGroup
from abacus.intake.partners.orders import AdjustmentOrder, adjustment_of, opening_of
from abacus.people.types.deed import Deed

app = CommandGroup(help="Points that a person adds or takes.", no_args_is_help=True)


@app.command("add", context_settings={"ignore_unknown_options": True})
async def add(
    member: Member,
    points: Annotated[int, typer.Argument(metavar="POINTS", help="How many; -50 takes fifty.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the transfer.")],
    program: Program = None,
    country: Country = None,
    key: Key = None,
    new_member: Annotated[
        bool, typer.Option("--new-member", help="The member is new: open the first account, in --country.")
    ] = False,
) -> Answer:
    """Add points to a member, or take them. A large adjustment waits until a second person approves it."""
    order = ordered(
        AdjustmentOrder, points=points, reason=reason, program=program, country=country, new_member=new_member
    )
    async with desk() as at:
        target = await at.target(member, order, opening=opening_of(order))
        agent = at.agent(Deed.ADJUST, target.country)
        return await at.large(adjustment_of(order, target, f"adjust:{key or uuid4()}", agent, at.clock.now()))
