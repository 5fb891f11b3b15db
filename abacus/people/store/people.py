"""People and their tokens in Postgres."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import asyncpg

from abacus.core.clock import Clock
from abacus.core.errors import Refused, absent
from abacus.core.sources import person_source
from abacus.core.tokens import PERSON_TOKEN, NewToken, has_digest
from abacus.people.decide.names import checked_person_id, parse_grants
from abacus.people.decide.rights import can_act_as_admin, check_admin_is_left, check_may_manage
from abacus.people.types.person import Actor, Grant, Person, PersonToken, Registered
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, arrays, columns, parameters, unnested

_LOCK: Final = "select pg_advisory_xact_lock(hashtext('abacus people'))"
_CREATE: Final = Statement(f"insert into person ({columns(Person)}) values ({parameters(Person)})")
_ADD_TOKEN: Final = Statement(f"insert into person_token ({columns(PersonToken)}) values ({parameters(PersonToken)})")
_PEOPLE: Final = Statement(f"select {columns(Person)} from person order by person_id")
_FIND: Final = Statement(f"select {columns(Person)} from person where person_id = :person_id")
_TOKENS: Final = Statement(f"select {columns(PersonToken)} from person_token order by created_at desc, prefix")
_GRANT: Final = Statement("update person set grants = :grants where person_id = :person_id")
_DISABLE: Final = Statement("update person set disabled_at = :at where person_id = :person_id")
_REVOKE: Final = Statement("update person_token set revoked_at = :now where prefix = any(:prefixes::text[])")


_VOUCH: Final = Statement(f"""
insert into person ({columns(Person)}) values ({parameters(Person)})
on conflict (person_id) do update set grants = excluded.grants returning disabled_at is null
""")
_ROLES: Final = Statement("select grants from person where person_id = :person_id")


class _Use(NamedTuple):
    """When a token was last used."""

    prefix: str
    last_used_at: datetime


_NOTE_USE: Final = Statement(f"""
update person_token t set last_used_at = greatest(t.last_used_at, u.last_used_at)
from {unnested(_Use)} where t.prefix = u.prefix
""")


class PeopleStore:
    """Who the people are. Changes are made one after the other, so that there is always an admin who can act.

    Every method raises `Unavailable` while the database is away, and `Refused` for what may not be.
    """

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def all(self) -> list[Registered]:
        async with passing_failures(), self._pool.acquire() as connection:
            return await _all(connection)

    async def find(self, person_id: str) -> Person | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(person_id=person_id))
        return _person(row) if row else None

    async def has_admin(self) -> bool:
        """Whether there is an admin who can act by a token."""
        return self._has_admin(await self.all())

    async def create(self, person_id: str, grants: tuple[Grant, ...], *, by: Actor, also: Also) -> Person:
        """Enters a person, who can do nothing before it has a token."""
        checked_person_id(person_id)
        if not grants:
            raise Refused("--role: a person without a role may do nothing; name one")
        person = Person(person_id, grants, created_at=self._clock.now(), created_by=by.source, disabled_at=None)
        async with self._managing(by, also) as connection:
            try:
                await connection.execute(*_CREATE(**person._asdict() | {"grants": list(map(str, grants))}))
            except asyncpg.UniqueViolationError:
                raise Refused(f"there is a person {person_id!r} already") from None
        return person

    async def give_roles(self, person_id: str, grants: tuple[Grant, ...], *, by: Actor, also: Also) -> None:
        """Replaces the roles of the person."""
        if not grants:
            raise Refused("name at least one role; `abacus people disable` closes a person's tokens")
        async with self._managing(by, also) as connection:
            _of(person_id, await _all(connection))
            await connection.execute(*_GRANT(person_id=person_id, grants=list(map(str, grants))))

    async def vouch(self, person_id: str, grants: tuple[Grant, ...], *, also: Also) -> bool:
        """The person as a provider of identities knows it: entered if it is not there, with these roles, or with none.
        Returns whether it is not disabled. `also` is written where something has changed.
        """
        person = Person(
            checked_person_id(person_id),
            grants,
            created_at=self._clock.now(),
            created_by=person_source(person_id),
            disabled_at=None,
        )
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK)
            given = list(map(str, grants))
            former = await connection.fetchval(*_ROLES(person_id=person_id))
            is_open = await connection.fetchval(*_VOUCH(**person._asdict() | {"grants": given}))
            if former != given:
                await also(connection)
        return bool(is_open)

    async def disable(self, person_id: str, *, by: Actor, also: Also) -> datetime:
        """Refuses the person's tokens from now on; returns since when."""
        async with self._managing(by, also) as connection:
            person = _of(person_id, await _all(connection)).person
            since = person.disabled_at or self._clock.now()
            await connection.execute(*_DISABLE(person_id=person_id, at=since))
        return since

    async def enable(self, person_id: str, *, by: Actor, also: Also) -> None:
        """Accepts the person's tokens again, as far as they still hold."""
        async with self._managing(by, also) as connection:
            _of(person_id, await _all(connection))
            await connection.execute(*_DISABLE(person_id=person_id, at=None))

    async def add_token(
        self, person_id: str, *, holds_for: timedelta, by: Actor, also: Also
    ) -> tuple[NewToken, datetime]:
        """A new token, and when it ends. A person may make one for itself."""
        token, now = PERSON_TOKEN.new(), self._clock.now()
        row = PersonToken(
            prefix=token.prefix,
            person_id=person_id,
            digest=token.digest,
            created_at=now,
            created_by=by.source,
            expires_at=now + holds_for,
            revoked_at=None,
            last_used_at=None,
        )
        async with self._managing(by, also, whose=person_id) as connection:
            person = _of(person_id, await _all(connection)).person
            if person.disabled_at is not None:
                raise Refused(f"{person_id} is disabled; `abacus people enable {person_id}` comes first")
            await connection.execute(*_ADD_TOKEN(**row._asdict()))
        return token, row.expires_at

    async def revoke(self, person_id: str, prefix: str | None, *, by: Actor, also: Also) -> list[str]:
        """Ends the token that begins with `prefix`, or all of the person's tokens; returns the beginnings of the ended
        tokens. A person may end its own.
        """
        now = self._clock.now()
        async with self._managing(by, also, whose=person_id) as connection:
            tokens = [each.prefix for each in _of(person_id, await _all(connection)).tokens if each.holds(now)]
            ended = [each for each in tokens if prefix in {None, each}]
            if prefix is not None and not ended:
                raise Refused(
                    f"{person_id} has no valid token {prefix!r}; `abacus people list` prints its valid tokens"
                )
            await connection.execute(*_REVOKE(prefixes=ended, now=now))
        return ended

    async def actor_of(self, text: str) -> Actor:
        """The person with this token, and the note that it was used now. Raises `Refused` for a token that does not
        hold.
        """
        now, prefix = self._clock.now(), PERSON_TOKEN.prefix_of(text)
        people = await self.all() if PERSON_TOKEN.fits(text) else []
        for person, tokens in people:
            for token in tokens:
                if token.prefix == prefix and has_digest(text, token.digest):
                    _check_holds(person, token, now)
                    await self.note_use({prefix: now})
                    return Actor(person.person_id, person.grants)
        raise Refused("the token is not one that a person here has")

    async def note_use(self, last_used: Mapping[str, datetime]) -> None:
        """Writes the times of the tokens' last use, by prefix."""
        async with passing_failures():
            await self._pool.execute(*_NOTE_USE(**arrays(_Use, [_Use(*use) for use in last_used.items()])))

    @asynccontextmanager
    async def _managing(self, by: Actor, also: Also, *, whose: str | None = None) -> AsyncIterator[Connection]:
        """A transaction for a change of people, or of a person's own tokens (`whose`); `also` is done in it. The last
        admin is not taken away.
        """
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK)
            before = await _all(connection)
            if not (by.is_authenticated and by.name == whose):
                check_may_manage(by, has_admin=self._has_admin(before))
            yield connection
            check_admin_is_left(by, before, await _all(connection), self._clock.now())
            await also(connection)

    def _has_admin(self, people: Sequence[Registered]) -> bool:
        now = self._clock.now()
        return any(can_act_as_admin(each, now) for each in people)


def _check_holds(person: Person, token: PersonToken, now: datetime) -> None:
    if person.disabled_at is not None:
        raise Refused(f"{person.person_id} is disabled since {person.disabled_at:%Y-%m-%d %H:%M} UTC")
    if token.revoked_at is not None:
        raise Refused(f"the token of {person.person_id} was revoked on {token.revoked_at:%Y-%m-%d %H:%M} UTC")
    if not token.holds(now):
        raise Refused(f"the token of {person.person_id} expired on {token.expires_at:%Y-%m-%d %H:%M} UTC")


async def _all(connection: Connection) -> list[Registered]:
    people = [_person(row) for row in await connection.fetch(*_PEOPLE())]
    by_person: dict[str, list[PersonToken]] = {}
    for row in await connection.fetch(*_TOKENS()):
        token = PersonToken(*row)
        by_person.setdefault(token.person_id, []).append(token)
    return [Registered(person, tuple(by_person.get(person.person_id, ()))) for person in people]


def _person(row: Sequence[Any]) -> Person:
    person = Person(*row)
    return person._replace(grants=parse_grants(map(str, person.grants)))


def _of(person_id: str, people: Sequence[Registered]) -> Registered:
    for each in people:
        if each.person.person_id == person_id:
            return each
    raise absent("person", person_id, "`abacus people list` prints all")
