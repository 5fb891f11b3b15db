"""People for tests: entered with roles, and their tokens."""

from datetime import timedelta
from typing import Final

from abacus.cli.terminal.command_actor import login
from abacus.core.clock import SystemClock
from abacus.people.decide.names import parse_grants
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Grant, Role
from abacus.platform.postgres import Pool, nothing_else
from tests.support.logged import logged

ADMIN: Final = Actor("tests", (Grant(Role.ADMIN),))
LOGIN: Final = f"login:{login()}"  # who commands act for without a token
MACHINE: Final = Actor(login(), None)  # the same, as an actor


async def hire(pool: Pool, person_id: str, *roles: str) -> str:
    """A person's token."""
    store, also = PeopleStore(pool, SystemClock()), logged(f"person:{person_id}", Deed.MANAGE_PEOPLE)
    await store.create(person_id, parse_grants(roles), by=ADMIN, also=nothing_else)
    token, _ = await store.add_token(person_id, holds_for=timedelta(days=1), by=ADMIN, also=also)
    return token.text
