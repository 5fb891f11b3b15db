"""The person of each token, and of each id: all people in memory, read again every few seconds, kept while the database
is away.
"""

from datetime import datetime
from typing import Protocol

from abacus.core.clock import Clock
from abacus.core.tokens import PERSON_TOKEN
from abacus.people.types.person import Actor, Registered
from abacus.platform.keyring import Keyring


class People(Protocol):
    """The store of people."""

    async def all(self) -> list[Registered]: ...

    async def note_use(self, last_used: dict[str, datetime]) -> None: ...


class PeopleDirectory(Keyring[Registered]):
    """Finds the person of a token. Its copy may be two seconds old, or older while the database is away."""

    def __init__(self, store: People, clock: Clock) -> None:
        super().__init__(
            "people",
            (PERSON_TOKEN,),
            store.all,
            store.note_use,
            clock,
            id_of=lambda each: each.person.person_id,
            tokens_of=lambda each: each.tokens,
            is_open=lambda each: each.person.disabled_at is None,
        )

    async def find(self, text: str) -> Actor | None:
        """The person of this token, or None. Raises `Unavailable` when nobody was ever read."""
        registered = await self.owner_of(text)
        return Actor(registered.person.person_id, registered.person.grants) if registered is not None else None
