"""`abacus people password` and `totp`: what a person signs in to the console with."""

import sys
from typing import Annotated

import typer

from abacus.cli.people.commands import PersonId
from abacus.cli.people.desk import people_desk
from abacus.cli.terminal.answer import Answer, Secret
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.shell import people_pool


async def password(person: PersonId) -> Answer:
    """Set the password by which a person signs in to the console; asked for without an echo, or read from standard
    input. Takes an admin, or the person itself.
    """
    async with actor(people_pool) as at:
        await people_desk(at).set_password(person, _read(), at.actor)
    return Answer({"person_id": person}, f"{person} has a new password")


async def totp(
    person: PersonId, remove: Annotated[bool, typer.Option("--remove", help="Take the authenticator away.")] = False
) -> Answer:
    """Print the address that a person's authenticator reads; it replaces an earlier one. Takes an admin, or the person
    itself.
    """
    async with actor(people_pool) as at:
        desk = people_desk(at)
        uri = None if remove else await desk.make_authenticator(person, at.actor)
        if remove:
            await desk.remove_authenticator(person, at.actor)
    if uri is None:
        return Answer({"person_id": person, "uri": uri}, f"{person} has no authenticator any more")
    return Answer({"person_id": person, "uri": uri}, Secret(f"for the authenticator of {person}, shown this once", uri))


def _read() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("password", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")
