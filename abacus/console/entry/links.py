"""Links that let one person in once, in Postgres."""

from datetime import datetime, timedelta
from typing import Final

from abacus.console.entry.types import LINK_TOKEN, Link
from abacus.core.clock import Clock
from abacus.core.tokens import NewToken, has_digest
from abacus.platform.postgres import Also, Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters

_MAKE: Final = Statement(f"insert into console_link ({columns(Link)}) values ({parameters(Link)})")
_FIND: Final = Statement(f"select {columns(Link)} from console_link where prefix = :prefix")
_USE: Final = Statement("""
update console_link set used_at = :now where prefix = :prefix and used_at is null returning person_id
""")


def address_of(token: NewToken, console: str) -> str:
    """What a browser opens; `console` is the console's own address."""
    return f"{console}/sign-in/link?token={token.text}"


class Links:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock

    async def make(self, person_id: str, *, holds_for: timedelta, by: str, also: Also) -> tuple[NewToken, datetime]:
        """A new link, and until when it can be used."""
        token, now = LINK_TOKEN.new(), self._clock.now()
        link = Link(token.prefix, person_id, token.digest, now, by, now + holds_for, None)
        async with passing_failures(), self._pool.acquire() as connection, connection.transaction():
            await connection.execute(*_MAKE(**link._asdict()))
            await also(connection)
        return token, link.expires_at

    async def find(self, text: str) -> Link | None:
        """The link of this token, if it can still be used."""
        if not LINK_TOKEN.fits(text):
            return None
        async with passing_failures():
            row = await self._pool.fetchrow(*_FIND(prefix=LINK_TOKEN.prefix_of(text)))
        link = Link(*row) if row else None
        if link is None or not has_digest(text, link.digest):
            return None
        return link if link.used_at is None and self._clock.now() < link.expires_at else None

    async def use(self, link: Link) -> bool:
        """Whether it was not used before; it is used then."""
        async with passing_failures():
            return await self._pool.fetchval(*_USE(prefix=link.prefix, now=self._clock.now())) is not None
