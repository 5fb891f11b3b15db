"""`abacus journeys enter`: support lets a member into a journey that members enter by the API."""

from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from abacus.cli.campaigns.campaign_events import read_message
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import checked_reason
from abacus.core.errors import Refused
from abacus.engage.journeys.entry_desk import ByHand, EntryDesk
from abacus.people.types.deed import Deed


async def enter_journey(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A journey that members enter by the API.")],
    member: Annotated[str, typer.Argument(metavar="MEMBER", help="The member's id.")],
    reason: Annotated[str, typer.Option(help="For the log.", show_default=False)],
    context: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The context of the entry, in JSON; - is standard input.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="The same entry under the same key again is done once.")] = None,
) -> Answer:
    """Let a member enter a journey: the worker `journeyer` does it, unless something is against it."""
    why, given = checked_reason(reason), {} if context is None else read_message(context)
    if not isinstance(given, dict):
        raise Refused(f"{context}: not an object")
    async with actor() as at:
        desk = EntryDesk(at.pool, at.clock)
        journey = await desk.journey(name)
        at.check(Deed.MOVE_POINTS, journey.country)
        asked = await desk.let_in(name, ByHand(member, given, key or str(uuid4()), why), at.actor)
    line = f"{member} enters {name}" if asked.refused is None else f"{member} did not enter {name}: {asked.refused}"
    return Answer({"journey": name, "member_id": member, **asked.told()}, line)
