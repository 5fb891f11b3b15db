"""`abacus people password` and `totp`: what a person signs in to the console with."""

import sys
from typing import Annotated

import typer

from abacus.cli.people.commands import PersonId
from abacus.cli.people.console import check_manages
from abacus.cli.terminal.answer import Answer, Secret
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import people_pool, secrets
from abacus.console.entry.authenticators import Authenticators
from abacus.console.entry.passwords import Passwords
from abacus.core.errors import Refused
from abacus.people.types.deed import Deed


async def password(person: PersonId) -> Answer:
    """Set the password by which a person signs in to the console; asked for without an echo, or read from standard
    input. Takes an admin, or the person itself.
    """
    async with actor(people_pool) as at:
        await check_manages(at.pool, at, person)
        also = at.told(Deed.MANAGE_PEOPLE, f"person:{person}", did="password")
        await Passwords(at.pool, at.clock).set(person, _read(), by=at.actor.source, also=also)
    return Answer({"person_id": person}, f"{person} has a new password")


async def totp(
    person: PersonId, remove: Annotated[bool, typer.Option("--remove", help="Take the authenticator away.")] = False
) -> Answer:
    """Print the address that a person's authenticator reads; it replaces an earlier one. Takes an admin, or the person
    itself.
    """
    async with actor(people_pool) as at:
        await check_manages(at.pool, at, person)
        store = Authenticators(at.pool, at.clock, secrets())
        also = at.told(Deed.MANAGE_PEOPLE, f"person:{person}", did="totp-remove" if remove else "totp")
        if remove and not await store.remove(person, also=also):
            raise Refused(f"{person} has no authenticator")
        uri = None if remove else await store.enrol(person, by=at.actor.source, also=also)
    if uri is None:
        return Answer({"person_id": person, "uri": uri}, f"{person} has no authenticator any more")
    return Answer({"person_id": person, "uri": uri}, Secret(f"for the authenticator of {person}, shown this once", uri))


def _read() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("password", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")
