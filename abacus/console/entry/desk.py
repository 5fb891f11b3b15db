"""The desk of people: who is entered, with which roles and which ways in. Commands and pages call nothing else."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from abacus.console.entry.authenticators import Authenticators
from abacus.console.entry.links import Links, address_of
from abacus.console.entry.passwords import Passwords
from abacus.console.entry.sessions import all_ended
from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.core.tokens import NewToken, new_secret_text
from abacus.people.decide.rights import check_may_manage
from abacus.people.store.audit import entry_of, with_entry
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Grant, Person, Registered
from abacus.platform.postgres import Also, nothing_else, together


class MadeLink(NamedTuple):
    """An address that lets a person in once, and until when."""

    address: str
    expires_at: datetime


class PeopleDesk:
    """Each deed takes an admin, or anybody while no admin can act by a token; its own ways in a person makes itself. It
    is written in the log, and `also` happens in the same transaction. Every method raises `Refused` for what may not
    be, and `Unavailable` while the database is away.
    """

    def __init__(
        self,
        store: PeopleStore,
        clock: Clock,
        *,
        passwords: Passwords,
        links: Links,
        authenticators: Authenticators,
        address: str,
    ) -> None:
        """`address` is the console's, as browsers know it."""
        self._store = store
        self._clock = clock
        self._passwords = passwords
        self._links = links
        self._authenticators = authenticators
        self._address = address

    async def all(self) -> list[Registered]:
        return await self._store.all()

    async def create(self, person_id: str, grants: tuple[Grant, ...], by: Actor, also: Also = nothing_else) -> Person:
        told = self._told(person_id, by, also, did="create", roles=list(map(str, grants)))
        return await self._store.create(person_id, grants, by=by, also=told)

    async def give_roles(self, person_id: str, grants: tuple[Grant, ...], by: Actor, also: Also = nothing_else) -> None:
        """In place of all that the person has."""
        told = self._told(person_id, by, also, did="roles", roles=list(map(str, grants)))
        await self._store.give_roles(person_id, grants, by=by, also=told)

    async def disable(self, person_id: str, by: Actor, also: Also = nothing_else) -> datetime:
        """Ends the person's sessions too. Returns since when it is disabled."""
        ended = all_ended(person_id, by=by.source, now=self._clock.now())
        told = self._told(person_id, by, together(ended, also), did="disable")
        return await self._store.disable(person_id, by=by, also=told)

    async def enable(self, person_id: str, by: Actor, also: Also = nothing_else) -> None:
        await self._store.enable(person_id, by=by, also=self._told(person_id, by, also, did="enable"))

    async def make_token(
        self, person_id: str, holds_for: timedelta, by: Actor, also: Also = nothing_else
    ) -> tuple[NewToken, datetime]:
        """A token for commands and the API, and when it ends."""
        told = self._told(person_id, by, also, did="token", days=holds_for.days)
        return await self._store.add_token(person_id, holds_for=holds_for, by=by, also=told)

    async def revoke(self, person_id: str, prefix: str | None, by: Actor, also: Also = nothing_else) -> Sequence[str]:
        """Ends the token that begins so, or all; returns the beginnings of the ended tokens."""
        told = self._told(person_id, by, also, did="revoke", token=prefix)
        return await self._store.revoke(person_id, prefix, by=by, also=told)

    async def make_link(self, person_id: str, holds_for: timedelta, by: Actor, also: Also = nothing_else) -> MadeLink:
        await self._check_may_let_in(person_id, by)
        told = self._told(person_id, by, also, did="link")
        token, until = await self._links.make(person_id, holds_for=holds_for, by=by.source, also=told)
        return MadeLink(address_of(token, self._address), until)

    async def set_password(self, person_id: str, password: str, by: Actor, also: Also = nothing_else) -> None:
        """Ends the person's sessions."""
        await self._check_may_let_in(person_id, by)
        told = self._told(person_id, by, also, did="password")
        await self._passwords.set(person_id, password, by=by.source, also=told)

    async def make_password(self, person_id: str, by: Actor, also: Also = nothing_else) -> str:
        """A password that nobody has chosen."""
        password = new_secret_text()
        await self.set_password(person_id, password, by, also)
        return password

    async def make_authenticator(self, person_id: str, by: Actor, also: Also = nothing_else) -> str:
        """The address that the person's authenticator reads; an earlier one is good no more."""
        await self._check_may_let_in(person_id, by)
        told = self._told(person_id, by, also, did="totp")
        return await self._authenticators.enrol(person_id, by=by.source, also=told)

    async def has_authenticator(self, person_id: str) -> bool:
        return await self._authenticators.has(person_id)

    async def remove_authenticator(self, person_id: str, by: Actor, also: Also = nothing_else) -> None:
        await self._check_may_let_in(person_id, by)
        told = self._told(person_id, by, also, did="totp-remove")
        if not await self._authenticators.remove(person_id, also=told):
            raise Refused(f"{person_id} has no authenticator")

    async def _check_may_let_in(self, person_id: str, by: Actor) -> None:
        if not (by.is_authenticated and by.name == person_id):
            check_may_manage(by, has_admin=await self._store.has_admin())
        found = await self._store.find(person_id)
        if found is None:
            raise absent("person", person_id, "`abacus people list` prints all")
        if found.disabled_at is not None:
            raise Refused(f"{person_id} is disabled; `abacus people enable {person_id}` comes first")

    def _told(self, person_id: str, by: Actor, also: Also, *, did: str, **details: object) -> Also:
        about, now = f"person:{person_id}", self._clock.now()
        return with_entry(also, entry_of(by.source, Deed.MANAGE_PEOPLE, about, now, country=None, did=did, **details))
