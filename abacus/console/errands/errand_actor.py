"""Who a command of the console acts for: the person who asked, as long as the errand runs."""

from typing import Final

from abacus.core.errors import Refused
from abacus.core.tokens import TokenForm, has_digest
from abacus.people.store.people import PeopleStore
from abacus.people.types.actor import Actor
from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement

ERRAND_TOKEN: Final = TokenForm("abe_")
_RUNNING: Final = Statement("""
select asked_by, token_digest from console_errand where token_prefix = :prefix and state = 'running'
""")


async def actor_of(text: str, pool: Pool, people: PeopleStore) -> Actor:
    """Raises `Refused` for a token whose errand has ended, and for a person who is disabled."""
    async with passing_failures():
        row = await pool.fetchrow(*_RUNNING(prefix=ERRAND_TOKEN.prefix_of(text)))
    if row is None or not has_digest(text, row[1]):
        raise Refused("the errand of this token does not run any more")
    person = await people.find(row[0])
    if person is None or person.disabled_at is not None:
        raise Refused(f"{row[0]} may not act here any more")
    return Actor(person.person_id, person.grants)
