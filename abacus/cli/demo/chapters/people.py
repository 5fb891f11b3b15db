"""Six people, each with a role of its own. The login enters them, so that none has its access from another."""

from typing import Final

from abacus.cli.demo.story.chapter import Chapter, Look
from abacus.cli.terminal.command_actor import CommandActor, login
from abacus.cli.terminal.shell import people_pool
from abacus.people.decide.names import parse_grants
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
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
        clock = self.house.clock
        async with people_pool(self.house.settings) as entering:
            by, store = Actor(login(), None), PeopleStore(entering, clock)
            at = CommandActor(by, people_required=False, pool=entering, clock=clock)
            for person_id, role in PEOPLE.items():
                grants = parse_grants([role])
                also = at.told(Deed.MANAGE_PEOPLE, f"person:{person_id}", did="create", roles=[str(role)])
                await store.create(person_id, grants, by=by, also=also)
                self.house.people[person_id] = Actor(person_id, grants)
