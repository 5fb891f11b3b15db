"""Who runs a command: the person of `ABACUS_TOKEN`, or the login on this machine; what it may do, and the log of it."""

import getpass
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, NamedTuple, TypeVar

from abacus.cli.terminal.shell import pool
from abacus.console.errands.command import ERRAND_TOKEN, actor_of
from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.people.decide.rights import check
from abacus.people.store.audit import entry_of, noted
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.database_clock import clock_of
from abacus.platform.postgres import Also, Pool, passing_failures
from abacus.platform.settings import read_settings

Desk = TypeVar("Desk")

_LONGEST_NAME: Final = 120  # of a source


class CommandActor(NamedTuple):
    """The actor of a command."""

    actor: Actor
    people_required: bool
    pool: Pool
    clock: Clock

    def check(self, deed: Deed, country: str | None = None) -> None:
        """Raises `Refused` where the actor may not do it there; without a country, in all countries."""
        check(self.actor, deed, country, people_required=self.people_required)

    def does(self, deed: Deed, subject: str, *, country: str | None = None, **details: object) -> Also:
        """The entry of the log, to be written in the transaction of the deed. Raises `Refused` where the actor may not
        do it.
        """
        self.check(deed, country)
        return self.told(deed, subject, country=country, **details)

    def told(self, deed: Deed, subject: str, *, country: str | None = None, **details: object) -> Also:
        """The same for a deed whose rights are checked where it is done."""
        return noted(entry_of(self.actor.source, deed, subject, self.clock.now(), country=country, **details))

    async def begins(self, deed: Deed, subject: str, *, country: str | None = None, **details: object) -> None:
        """Check the right and write the entry now: for a deed of many transactions, or of none."""
        also = self.does(deed, subject, country=country, **details)
        async with passing_failures(), self.pool.acquire() as connection:
            await also(connection)


async def acting(opened: Pool, own: Clock | None = None) -> CommandActor:
    """`own` is the clock of this computer. Raises `Refused` for a token that does not hold."""
    settings, clock = read_settings(), await clock_of(opened, own)
    if settings.token is None:
        actor = Actor(login(), None)
    else:
        try:
            actor = await _holder(settings.token, opened, PeopleStore(opened, clock))
        except Refused as fault:
            raise Refused(f"ABACUS_TOKEN: {fault}") from None
    return CommandActor(actor, settings.people_required, opened, clock)


@asynccontextmanager
async def actor(session: Callable[[], AbstractAsyncContextManager[Pool]] = pool) -> AsyncIterator[CommandActor]:
    """The actor of a command, with a pool for it; `people_pool` for a command that enters people."""
    async with session() as opened:
        yield await acting(opened)


@asynccontextmanager
async def at_desk(
    desk: Callable[[CommandActor], AbstractAsyncContextManager[Desk]],
) -> AsyncIterator[tuple[Desk, CommandActor]]:
    """The desk of a capability, and the actor of a command at it."""
    async with actor() as at, desk(at) as opened:
        yield opened, at


async def _holder(token: str, opened: Pool, people: PeopleStore) -> Actor:
    if ERRAND_TOKEN.fits(token):  # the console runs the command for somebody
        return await actor_of(token, opened, people)
    return await people.actor_of(token)


def login() -> str:
    """The login and the machine, as `root@host`. Nobody has checked it."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container whose user has no name
        user = f"uid-{os.getuid()}"
    name = f"{user}@{socket.gethostname()}"
    return "".join(each if each.isprintable() else "?" for each in name)[:_LONGEST_NAME]
