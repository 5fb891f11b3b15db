"""The door: who is let in, by which way, and what is written down about it."""

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import structlog

from abacus.console.entry.authenticators import Authenticators
from abacus.console.entry.decide.browser import network_of
from abacus.console.entry.decide.claims import Vouched
from abacus.console.entry.links import Links
from abacus.console.entry.passwords import Passwords
from abacus.console.entry.sessions import SessionStore
from abacus.console.entry.types import Link, Session, Visitor, Way
from abacus.core.clock import Clock
from abacus.core.errors import AbacusError
from abacus.core.sources import person_source
from abacus.core.tokens import NewToken
from abacus.people.directory import PeopleDirectory
from abacus.people.store.audit import entry_of, noted
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Person, Role
from abacus.platform.postgres import Also
from abacus.platform.rate_limits.limiter import RateLimiter

_WRONG: Final = (
    "That does not fit. Type the name, the password and, if you have an authenticator, its code once more; an admin can"
    " send you a link if you have forgotten the password."
)
_USED: Final = (
    "This link is not good any more: it works once, and for a short time. Ask the admin who sent it for another one, or"
    " sign in with your password."
)

log = structlog.get_logger(__name__)


class Denied(AbacusError):
    """Nobody is let in. The caller gets the message, which is the same for a wrong name and a wrong password."""

    def __init__(self, message: str, *, wait_s: int = 0) -> None:
        super().__init__(message)
        self.wait_s = wait_s


@dataclass(frozen=True)
class Attempts:
    """How often a minute somebody may try. Nobody is locked out by what others try from elsewhere: tries for a person
    from everywhere only slow down. Codes are counted for the person, whose password or link was right before.
    """

    per_person_and_address: int = 5
    per_address: int = 30
    codes: int = 5
    unslowed: int = 20  # for a person, from all addresses together
    slowed_s: float = 3.0


class Door:
    """Every method raises `Denied`, and `Unavailable` while the database is away."""

    def __init__(
        self,
        *,
        people: PeopleDirectory,
        store: PeopleStore,
        sessions: SessionStore,
        passwords: Passwords,
        authenticators: Authenticators,
        links: Links,
        limiter: RateLimiter,
        clock: Clock,
        code_for: Iterable[Role] = (),
        attempts: Attempts | None = None,
    ) -> None:
        self._people = people
        self._store = store
        self._sessions = sessions
        self._passwords = passwords
        self._authenticators = authenticators
        self._links = links
        self._limiter = limiter
        self._clock = clock
        self._code_for = frozenset(code_for)
        self._attempts = attempts or Attempts()

    async def by_password(self, person_id: str, password: str, code: str, visitor: Visitor) -> NewToken:
        await self._check_attempts(visitor, person_id)
        await self._slow_down(visitor, person_id)
        right = await self._passwords.fits(person_id, password)
        actor = await self._read_actor(person_id)
        if not right or actor is None:
            raise self._denied(person_id, visitor, _WRONG)
        await self._check_code(actor, code, visitor)
        return await self._let_in(actor, Way.PASSWORD, visitor)

    async def knows(self, text: str, visitor: Visitor) -> Link:
        """The link of an address, which is not used yet."""
        await self._check_attempts(visitor)
        link = await self._links.find(text)
        if link is None:
            raise Denied(_USED)
        return link

    async def by_link(self, text: str, code: str, visitor: Visitor) -> NewToken:
        link = await self.knows(text, visitor)
        await self._check_attempts(visitor, link.person_id)
        actor = await self._read_actor(link.person_id)
        if actor is None:
            raise self._denied(link.person_id, visitor, _USED)
        await self._check_code(actor, code, visitor)
        if not await self._links.use(link):
            raise Denied(_USED)
        return await self._let_in(actor, Way.LINK, visitor)

    async def by_provider(self, vouched: Vouched, visitor: Visitor) -> NewToken:
        """A person of the provider has the roles that its groups have now, and is entered when it first comes."""
        person_id, grants = vouched
        told = self._told(person_id, Deed.MANAGE_PEOPLE, did="vouched", roles=list(map(str, grants)))
        is_open = await self._store.vouch(person_id, grants, also=told)
        await self._people.refresh()
        if not is_open or not grants:
            raise self._denied(
                person_id, visitor, f"{person_id} has no role here yet. Ask an admin for one, and sign in again."
            )
        return await self._let_in(Actor(person_id, grants), Way.PROVIDER, visitor)

    async def actor(self, person_id: str) -> Actor | None:
        """The person, if it may do anything now; two seconds old at most, or older while the database is away."""
        registered = await self._people.look_up(person_id)
        return _actor(registered.person if registered is not None else None)

    async def leave(self, session: Session) -> None:
        told = self._told(session.person_id, Deed.SIGN_IN, did="sign-out", session=session.prefix)
        await self._sessions.end(session.person_id, session.prefix, by=person_source(session.person_id), also=told)

    async def _read_actor(self, person_id: str) -> Actor | None:
        """Not by the copy in memory, which would be slower for somebody who is not there."""
        return _actor(await self._store.find(person_id))

    async def _let_in(self, actor: Actor, way: Way, visitor: Visitor) -> NewToken:
        told = self._told(actor.name, Deed.SIGN_IN, did="sign-in", way=way, address=visitor.address)
        return await self._sessions.begin(actor.name, way, visitor, told)

    async def _check_code(self, actor: Actor, code: str, visitor: Visitor) -> None:
        if await self._authenticators.has(actor.name):
            await self._take(f"code:{actor.name}", self._attempts.codes)
            if not await self._authenticators.accepts(actor.name, code):
                raise self._denied(actor.name, visitor, _WRONG)
        elif any(grant.role in self._code_for for grant in actor.grants or ()):
            raise self._denied(
                actor.name,
                visitor,
                "Your roles need an authenticator, and you have none. Ask an admin to make one:"
                f" `abacus people totp {actor.name}`.",
            )

    async def _check_attempts(self, visitor: Visitor, person_id: str | None = None) -> None:
        network = network_of(visitor.address)
        if person_id is not None:
            await self._take(f"person:{_hashed(person_id)}:{network}", self._attempts.per_person_and_address)
        await self._take(f"address:{network}", self._attempts.per_address)

    async def _take(self, id_: str, limit: int) -> None:
        permit = await self._limiter.take(id_, limit)
        if permit.wait_s:
            raise Denied(
                f"Too many attempts. Wait {permit.wait_s} seconds and try again; nobody is locked out.",
                wait_s=permit.wait_s,
            )

    async def _slow_down(self, visitor: Visitor, person_id: str) -> None:
        """While many try to be this person, each waits a while, but at an address where the person has been in."""
        permit = await self._limiter.take(f"person:{_hashed(person_id)}", self._attempts.unslowed)
        if permit.wait_s and not await self._sessions.began_at(person_id, visitor.address):
            await asyncio.sleep(min(permit.wait_s, self._attempts.slowed_s))

    def _denied(self, person_id: str, visitor: Visitor, message: str) -> Denied:
        log.warning("sign-in denied", person=person_id[:64], address=visitor.address)
        return Denied(message)

    def _told(self, person_id: str, deed: Deed, *, did: str, **details: object) -> Also:
        subject, now = f"person:{person_id}", self._clock.now()
        return noted(entry_of(person_source(person_id), deed, subject, now, country=None, did=did, **details))


def _hashed(person_id: str) -> str:
    return hashlib.sha256(person_id.encode("utf-8", "replace")).hexdigest()


def _actor(person: Person | None) -> Actor | None:
    if person is None or person.disabled_at is not None or not person.grants:
        return None
    return Actor(person.person_id, person.grants)
