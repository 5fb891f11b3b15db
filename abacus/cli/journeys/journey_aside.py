"""`abacus journeys aside` and `retry`: who is set aside, and going on once the fault is mended."""

from typing import Annotated

import typer

from abacus.cli.journeys.family import journey_desk
from abacus.cli.terminal.answer import Answer, Columns, Table, counted
from abacus.cli.terminal.command_actor import at_desk
from abacus.engage.journeys.aside_rows import Aside, What
from abacus.people.types.deed import Deed


async def members_aside(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Of this journey alone.")] = None,
) -> Answer:
    """List the members of journeys who are set aside, by node, by what failed and by its fault."""
    async with at_desk(journey_desk) as (desk, _):
        if name is not None:
            await desk.versions(name)
        found = await desk.aside(name)
        names = {
            (journey, node.number): node.name
            for journey in {each.journey for each in found}
            for record in await desk.versions(journey)
            for node in record.document.nodes.values()
        }

    def node(each: Aside) -> str:
        return "" if each.what in {What.ENTRY, What.EVENT} else names.get((each.journey, each.node), str(each.node))

    columns: Columns[Aside] = {
        "journey": lambda each: f"{each.journey}@{each.version}",
        "node": node,
        "what": lambda each: each.what,
        "members": lambda each: each.members,
        "since": lambda each: each.since.isoformat(timespec="seconds"),
        "fault": lambda each: each.fault,
    }
    rows = [{**each._asdict(), "node": node(each)} for each in found]
    return Answer(rows, Table.of("Set aside", found, columns))


async def retry_members(name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)]) -> Answer:
    """Let the members of a journey go on who could not be moved, and do what could not be done, once what was at fault
    is mended.
    """
    async with at_desk(journey_desk) as (desk, at):
        journey = (await desk.versions(name))[-1].document
        at.check(Deed.EDIT_JOURNEYS, journey.country)
        members = await desk.retry(journey, at.actor)
    return Answer({"journey": name, "members": members}, f"{counted(members, 'member')} of {name} go on")
