"""`abacus console`: links by which a person gets into the console."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Final

import typer

from abacus.cli.people.commands import PersonId
from abacus.cli.terminal.answer import Answer, Secret
from abacus.cli.terminal.command_actor import CommandActor, actor, login
from abacus.cli.terminal.shell import CommandGroup, people_pool, settings
from abacus.console.entry.links import Links
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, absent
from abacus.people.decide.names import parse_grants
from abacus.people.decide.rights import check_may_manage
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Role
from abacus.platform.postgres import Pool
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
    config = settings()
    async with actor(people_pool) as at:
        await check_manages(at.pool, at, person)
        address, until = await new_link(at.pool, at, person, config, timedelta(minutes=minutes))
    return Answer(
        {"person_id": person, "link": address, "expires_at": until},
        Secret(f"for {person}, once, until {until}", address),
    )


async def new_link(
    opened: Pool, at: CommandActor, person_id: str, config: Settings, holds_for: timedelta
) -> tuple[str, str]:
    """The address, and the time until which it works."""
    also = at.told(Deed.MANAGE_PEOPLE, f"person:{person_id}", did="link")
    token, until = await Links(opened, at.clock).make(person_id, holds_for=holds_for, by=at.actor.source, also=also)
    return f"{console_url(config)}/sign-in/link?token={token.text}", until.isoformat(timespec="seconds")


def console_url(config: Settings) -> str:
    return config.console_public_url or f"http://{config.console_host}:{config.console_port}"


async def links_for(config: Settings, people: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """For a house on this machine: a link for each of these people, who are entered with these roles where they are not
    there.
    """
    clock, links = SystemClock(), dict[str, str]()
    async with people_pool(config) as opened:
        at = CommandActor(Actor(login(), None), config.people_required, opened, clock)
        store = PeopleStore(opened, clock)
        for person_id, roles in people.items():
            if await store.find(person_id) is None:
                also = at.told(Deed.MANAGE_PEOPLE, f"person:{person_id}", did="create", roles=list(roles))
                await store.create(person_id, parse_grants(roles), by=at.actor, also=also)
            links[person_id], _ = await new_link(opened, at, person_id, config, timedelta(days=1))
    return links


async def first_link(config: Settings) -> str | None:
    """For a house on this machine: a link for its admin, who is entered if there is nobody. None where others are."""
    async with people_pool(config) as opened:
        people = [each.person.person_id for each in await PeopleStore(opened, SystemClock()).all()]
    return (await links_for(config, {_FIRST: [Role.ADMIN]}))[_FIRST] if people in ([], [_FIRST]) else None


async def check_manages(opened: Pool, at: CommandActor, person_id: str) -> None:
    """Whether this actor may make ways in for the person, who has to be there. Raises `Refused`."""
    store = PeopleStore(opened, at.clock)
    if not (at.actor.is_authenticated and at.actor.name == person_id):
        check_may_manage(at.actor, has_admin=await store.has_admin())
    found = await store.find(person_id)
    if found is None:
        raise absent("person", person_id, "`abacus people list` prints all")
    if found.disabled_at is not None:
        raise Refused(f"{person_id} is disabled; `abacus people enable {person_id}` comes first")
