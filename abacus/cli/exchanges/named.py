"""The programme that a command names."""

from abacus.cli.exchanges.family import programme_desk
from abacus.cli.terminal.command_actor import CommandActor
from abacus.documents.stated import last_approved
from abacus.exchanges.decide.programme import Programme
from abacus.people.types.deed import Deed


async def programme_for(at: CommandActor, name: str, deed: Deed = Deed.SEE) -> Programme:
    """The newest version that was ever in force. Raises `Absent`, and `Refused` for what the actor may not do there."""
    async with programme_desk(at) as desk:
        history = await desk.history(name)
        if not history:
            raise desk.kind.unknown(name)
        programme = last_approved(history)
    at.check(deed, programme.country)
    return programme
