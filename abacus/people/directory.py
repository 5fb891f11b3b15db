"""The person of each token, and of each id: all people in memory, read again every few seconds, kept while the database
is away.
"""

from datetime import datetime
from typing import Protocol

from abacus.core.clock import Clock
from abacus.core.tokens import PERSON_TOKEN
from abacus.people.types.actor import Actor
from abacus.people.types.person import Registered
from abacus.platform.keyring import Keyring


class People(Protocol):
    """The store of people."""

    async def all(self) -> list[Registered]: ...

    async def note_use(self, last_used: dict[str, datetime]) -> None: ...


class PeopleDirectory:
    """Finds the person of a token. Its copy may be two seconds old, or older while the database is away."""

    def __init__(self, store: People, clock: Clock) -> None:
        self._keyring: Keyring[Registered] = Keyring(
            "people",
            (PERSON_TOKEN,),
            store.all,
            store.note_use,
            clock,
            id_of=lambda each: each.person.person_id,
            tokens_of=lambda each: each.tokens,
            is_open=lambda each: each.person.disabled_at is None,
        )
        self.keep_fresh = self._keyring.keep_fresh
        self.keep_noting_use = self._keyring.keep_noting_use
        self.note_use = self._keyring.note_use
        self.refresh = self._keyring.refresh
        self.wake = self._keyring.wake

    async def find(self, text: str) -> Actor | None:
        """The person of this token, or None. Raises `Unavailable` when nobody was ever read."""
        registered = await self._keyring.find(text)
        return Actor(registered.person.person_id, registered.person.grants) if registered is not None else None

    async def look_up(self, person_id: str) -> Registered | None:
        """The person with this id, or None; a disabled one too. Raises `Unavailable` when nobody was ever read."""
        return await self._keyring.look_up(person_id)
