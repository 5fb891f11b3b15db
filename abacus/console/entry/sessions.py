"""Sessions in Postgres: read at each request, so that an ended session is over at once, in every process."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from abacus.console.entry.decide.sessions import holds, needs_note
from abacus.console.entry.types import SESSION_TOKEN, Session, SessionLimits, Visitor, Way
from abacus.core.clock import Clock
from abacus.core.tokens import NewToken, has_digest
from abacus.platform.postgres import Also, Connection, Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters

_LONGEST: Final = 200  # characters of what a browser says of itself
_BEGIN: Final = Statement(f"insert into console_session ({columns(Session)}) values ({parameters(Session)})")
_FIND: Final = Statement(f"select {columns(Session)} from console_session where prefix = :prefix")
_BEGAN_AT: Final = Statement("""
select exists (select from console_session where person_id = :person_id and address = :address)
""")
_LAST_USE: Final = Statement("""
select max(seen_at) from console_session where person_id = :person_id and started_at < :before
""")
_NOTE: Final = Statement("update console_session set seen_at = greatest(seen_at, :now) where prefix = :prefix")
_ZONE: Final = Statement("update console_session set zone = :zone where prefix = :prefix")
_OPEN: Final = Statement(f"""
select {columns(Session)} from console_session
where (:person_id::text is null or person_id = :person_id) and ended_at is null and started_at > :since
order by started_at desc, prefix
""")
_END: Final = Statement("""
update console_session set ended_at = :now, ended_by = :by
where person_id = :person_id and (:prefix::text is null or prefix = :prefix) and ended_at is null returning prefix
""")


def all_ended(person_id: str, *, by: str, now: datetime) -> Also:
    """Ends all sessions of the person in the transaction of what is done to it."""

    async def also(connection: Connection) -> None:
        await connection.execute(*_END(person_id=person_id, prefix=None, by=by, now=now))

    return also


class SessionStore:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock, limits: SessionLimits) -> None:
        self._pool = pool
        self._clock = clock
        self.limits = limits

    async def begin(self, person_id: str, way: Way, visitor: Visitor, also: Also) -> NewToken:
        token, now = SESSION_TOKEN.new(), self._clock.now()
        session = Session(
            prefix=token.prefix,
            person_id=person_id,
            digest=token.digest,
            way=way,
            started_at=now,
            seen_at=now,
            zone=visitor.zone,
            address=visitor.address,
            browser=visitor.browser[:_LONGEST],
            ended_at=None,
            ended_by=None,
        )
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_BEGIN(**session._asdict()))
            await also(connection)
        return token

    async def find(self, text: str, *, is_use: bool = True) -> Session | None:
        """The session of this token if it holds, and the note that it was used, if a person did."""
        if not SESSION_TOKEN.fits(text):
            return None
        now = self._clock.now()
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(prefix=SESSION_TOKEN.prefix_of(text)))
            session = Session(*row) if row else None
            if session is None or not has_digest(text, session.digest) or not holds(session, self.limits, now):
                return None
            if is_use and needs_note(session, self.limits, now):
                await self._pool.execute(*_NOTE(prefix=session.prefix, now=now))
        return session

    async def began_at(self, person_id: str, address: str) -> bool:
        """Whether a session of the person that is still kept began at this address."""
        async with passing_failures():
            return bool(await self._pool.fetchval(*_BEGAN_AT(person_id=person_id, address=address)))

    async def last_visit(self, session: Session) -> datetime | None:
        """When the person was here last before this session; None where no earlier one is kept."""
        async with passing_failures():
            found: datetime | None = await self._pool.fetchval(
                *_LAST_USE(person_id=session.person_id, before=session.started_at)
            )
        return found

    async def of(self, person_id: str | None = None) -> Sequence[Session]:
        """The sessions that hold, of one person or of all, the newest first."""
        now = self._clock.now()
        async with passing_failures():
            rows = await self._pool.fetch(*_OPEN(person_id=person_id, since=now - self.limits.whole))
        return [each for each in (Session(*row) for row in rows) if holds(each, self.limits, now)]

    async def keep_zone(self, prefix: str, zone: str) -> None:
        async with passing_failures():
            await self._pool.execute(*_ZONE(prefix=prefix, zone=zone))

    async def end(self, person_id: str, prefix: str | None, *, by: str, also: Also) -> Sequence[str]:
        """Ends this session of the person, or all that it has; returns the sessions that ended now."""
        given = {"person_id": person_id, "prefix": prefix, "by": by, "now": self._clock.now()}
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            ended = [str(row[0]) for row in await connection.fetch(*_END(**given))]
            if ended:
                await also(connection)
        return ended
