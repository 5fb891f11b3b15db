"""`abacus offers invite`: the members who may take an offer by invitation."""

from pathlib import Path
from typing import Annotated, Final

import typer

from abacus.cli.offers.family import offer_desk
from abacus.cli.segments.segment_files import Wanted, check_wanted, listed, refusal
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import settings
from abacus.engage.offers.decide.invited import Inviting, check_invites
from abacus.people.types.deed import Deed

_DONE: Final = {
    Inviting.ADD: "{added} invited to {name}",
    Inviting.REMOVE: "invitations of {removed} to {name} taken back",
    Inviting.REPLACE: "{added} invited to {name}, and invitations of {removed} taken back",
}


async def invite_members(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .csv or .parquet file.", show_default=False)],
    how: Annotated[
        Inviting, typer.Option(help="replace: the members of the file are invited, and nobody else.")
    ] = Inviting.ADD,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column with the members. Default: member_id.")
    ] = None,
    no_header: Annotated[bool, typer.Option("--no-header", help="The first line is a member already.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Take the good lines of a file with bad ones.")] = False,
) -> Answer:
    """Invite the members in a file to an offer, or take their invitations back.

    All lines are checked first; a file with a bad one changes nothing. Done again, it changes nothing. Exit 1 when
    there are bad lines.
    """
    settings()
    wanted = Wanted((), file, column, named=not no_header, skip_bad=skip_bad)
    async with actor() as at:
        desk = offer_desk(at)
        offer = (await desk.version(name)).document
        at.check(Deed.EDIT_OFFERS, offer.country)
        check_invites(offer)
        checked = check_wanted(wanted)
        if (refused := refusal(wanted, checked)) is not None:
            return refused
        done = await desk.invite(offer.name, how, listed(wanted, checked), at.actor, file=file.name)
    lines, shown = checked
    said = _DONE[how].format(
        name=offer.name, added=counted(done.added, "member"), removed=counted(done.removed, "member")
    )
    told = {"name": offer.name, "how": how, **done._asdict(), "lines": lines.total, "bad": lines.bad}
    faults = [Aside(str(each), "red") for each in shown]
    return Answer(told, *faults, said, exit_code=EXIT_FAILED if lines.bad else 0)
