"""`abacus console`: links by which a person gets into the console."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Final

import typer

from abacus.cli.people.commands import PersonId
from abacus.cli.people.desk import console_url, people_desk
from abacus.cli.terminal.answer import Answer, Secret
from abacus.cli.terminal.command_actor import CommandActor, actor, login
from abacus.cli.terminal.shell import CommandGroup, people_pool
from abacus.console.entry.links import Links, address_of
from abacus.core.clock import SystemClock
from abacus.people.decide.names import parse_grants
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Role
from abacus.platform.settings import Settings

app = CommandGroup(help="The web console: links to get in.", no_args_is_help=True)

_MINUTES: Final = 15
_MOST_MINUTES: Final = 24 * 60
_FIRST: Final = "admin"


@app.command("link")
async def link(
    person: PersonId,
    minutes: Annotated[int, typer.Option(min=1, max=_MOST_MINUTES, help="Minutes for which it works.")] = _MINUTES,
) -> Answer:
    """Print an address by which a person gets into the console, once. Takes an admin, or the person itself."""
    async with actor(people_pool) as at:
        made = await people_desk(at).make_link(person, timedelta(minutes=minutes), at.actor)
    until = made.expires_at.isoformat(timespec="seconds")
    return Answer(
        {"person_id": person, "link": made.address, "expires_at": until},
        Secret(f"for {person}, once, until {until}", made.address),
    )


async def links_for(config: Settings, people: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """For a house on this machine: a link for each of these people, who are entered with these roles where they are not
    there. The links take no admin: who starts the house may be anybody in it.
    """
    clock, addresses = SystemClock(), dict[str, str]()
    async with people_pool(config) as opened:
        at = CommandActor(Actor(login(), None), config.people_required, opened, clock)
        desk, links = people_desk(at, config), Links(opened, clock)
        known = {each.person.person_id for each in await desk.all()}
        for person_id, roles in people.items():
            if person_id not in known:
                await desk.create(person_id, parse_grants(roles), at.actor)
            also = at.told(Deed.MANAGE_PEOPLE, f"person:{person_id}", did="link")
            token, _ = await links.make(person_id, holds_for=timedelta(days=1), by=at.actor.source, also=also)
            addresses[person_id] = address_of(token, console_url(config))
    return addresses


async def first_link(config: Settings) -> str | None:
    """For a house on this machine: a link for its admin, who is entered if there is nobody. None where others are."""
    async with people_pool(config) as opened:
        people = [each.person.person_id for each in await PeopleStore(opened, SystemClock()).all()]
    return (await links_for(config, {_FIRST: [Role.ADMIN]}))[_FIRST] if people in ([], [_FIRST]) else None
