"""Two people of the demo's house: one publishes, the other approves."""

from collections.abc import Sequence
from typing import Final

from abacus.approving.executors import approving
from abacus.cli.people.desk import people_desk
from abacus.cli.terminal.command_actor import CommandActor, login
from abacus.cli.terminal.shell import people_pool
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.ledger.types.limits import Alone
from abacus.ledger.types.movement import Moved, Movement
from abacus.people.decide.names import parse_grants
from abacus.people.store.approvals import Approvals
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.signals.events.decide.source import Source

EDITOR: Final = Actor("demo-editor", parse_grants(["country_editor:SG"]))
APPROVER: Final = Actor("demo-approver", parse_grants(["approver:SG"]))


async def enter_people(complete: Settings) -> None:
    """They are entered, if they are not there. The login enters them, as it enters the first people of any house: so
    neither has its access from the other. Raises `Refused` in a house that has an admin.
    """
    async with people_pool(complete) as pool:
        at = CommandActor(Actor(login(), None), people_required=False, pool=pool, clock=SystemClock())
        desk = people_desk(at, complete)
        known = {each.person.person_id for each in await desk.all()}
        for actor in (EDITOR, APPROVER):
            if actor.name not in known:
                await desk.create(actor.name, actor.grants or (), at.actor)


def approvals_of(pool: Pool, built_in: Sequence[Source]) -> Approvals:
    async def nobody_moves(_: Movement) -> Moved:
        raise Refused("the demo moves no points by hand")

    return approving(pool, SystemClock(), nobody_moves, Alone(0, 0), built_in).approvals
