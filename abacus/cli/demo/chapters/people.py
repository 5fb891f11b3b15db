"""Six people, each with a role of its own. The login enters them, so that none has its access from another."""

from typing import Final

from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.cli.people.desk import people_desk
from abacus.cli.terminal.command_actor import CommandActor, login
from abacus.cli.terminal.shell import people_pool
from abacus.people.decide.names import parse_grants
from abacus.people.types.person import Actor, Role

PEOPLE: Final = {
    "admin": Role.ADMIN,
    "cleo": Role.COUNTRY_EDITOR,
    "dora": Role.APPROVER,
    "sid": Role.SUPPORT,
    "finn": Role.FINANCE,
    "olga": Role.OPERATOR,
}


class People(Chapter):
    """They are there before anything else."""

    looks = (Look("admin", "/people", "six people, who may do what, and the log of everything that they did"),)

    async def begin(self) -> None:
        settings, by = self.house.settings, Actor(login(), None)
        async with people_pool(settings) as entering:
            at = CommandActor(by, people_required=False, pool=entering, clock=self.house.clock)
            desk = people_desk(at, settings)
            for person_id, role in PEOPLE.items():
                grants = parse_grants([role])
                await desk.create(person_id, grants, by)
                self.house.people[person_id] = Actor(person_id, grants)
