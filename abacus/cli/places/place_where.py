"""`abacus places where`: in which regions a member is, as far as positions of the last day say."""

from typing import Annotated

import typer

from abacus.cli.documents.commands import cell
from abacus.cli.terminal.answer import Answer, Columns, Table
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_member
from abacus.people.decide.rights import may
from abacus.people.types.deed import Deed
from abacus.signals.places.whereabouts import Whereabouts, whereabouts

_COLUMNS: Columns[Whereabouts] = {
    "region": lambda each: each.region,
    "country": lambda each: each.country,
    "is": lambda each: "inside" if each.inside else "outside",
    "since": lambda each: cell(each.since),
    "last position": lambda each: cell(each.seen_at),
}


async def where_is_member(
    member: Annotated[str, typer.Argument(metavar="MEMBER", show_default=False)],
) -> Answer:
    """Say which regions a member is in, or has left lately, and when a position said so last.

    The worker positions keeps this for a day. Regions are told of countries that you may see.
    """
    check_member(member)
    async with actor() as at:
        found = [each for each in await whereabouts(at.pool, member) if may(at.actor, Deed.SEE, each.country)]
    told = [each._asdict() for each in found]
    if not found:
        return Answer(told, f"of {member} no position of the last day tells a region")
    return Answer(told, Table.of(f"Where {member} is", found, _COLUMNS))
