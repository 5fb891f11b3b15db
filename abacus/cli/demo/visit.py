"""The console of the demo's house, left open: six people with passwords that last, and eight pages to look at."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from ipaddress import ip_address
from typing import Final

from abacus.cli.demo.chapters import chapter_types
from abacus.cli.demo.chapters.people import PEOPLE
from abacus.cli.demo.story.chapter import Look
from abacus.cli.demo.story.opening import OF_THE_STORY
from abacus.cli.house.free_ports import on_free_ports
from abacus.cli.house.stack import running
from abacus.cli.house.start_progress import StartProgress
from abacus.cli.people.console import links_for
from abacus.cli.people.desk import console_url
from abacus.cli.terminal.answer import Table, console, print_json, tell
from abacus.cli.terminal.command_actor import CommandActor, login
from abacus.cli.terminal.shell import people_pool
from abacus.console.entry.passwords import Passwords
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor
from abacus.platform.settings import Settings
from workers import WORKERS

_LOCALHOST: Final = "localhost"


def password_of(person_id: str) -> str:
    """It is no secret: the console listens on this machine alone."""
    return f"{person_id}-in-the-demo"


def check_host(config: Settings) -> None:
    """Raises `Refused` where others could reach the console."""
    host = config.console_host
    if host != _LOCALHOST and not _is_loopback(host):
        raise Refused(f"ABACUS_CONSOLE_HOST: everybody knows the demo's passwords; {host} may be reached by others")


async def visit(complete: Settings, starting: StartProgress, *, as_json: bool) -> None:
    """Run every worker until it is cancelled, or one fails."""
    config = on_free_ports(complete.model_copy(update=OF_THE_STORY))
    async with AsyncExitStack() as stack:
        house = running(WORKERS, config, starting, health_port=config.health_port)
        workers, links = await asyncio.gather(stack.enter_async_context(house), _ways_in(config))
        looks = [look for each in chapter_types() for look in each.looks]
        if as_json:
            people = [{"person_id": each, "role": PEOPLE[each], "password": password_of(each)} for each in PEOPLE]
            pages = [{**look._asdict(), "url": console_url(config) + look.path} for look in looks]
            print_json({"console": links, "people": people, "looks": pages})
        else:
            _show(config, looks)
        await asyncio.wait((workers,))


async def _ways_in(config: Settings) -> Mapping[str, str]:
    """A password for each of the six people, and a link."""
    async with people_pool(config) as opened:
        by, clock = Actor(login(), None), SystemClock()
        at, passwords = CommandActor(by, config.people_required, opened, clock), Passwords(opened, clock)
        for person_id in PEOPLE:
            also = at.told(Deed.MANAGE_PEOPLE, f"person:{person_id}", did="password")
            await passwords.set(person_id, password_of(person_id), by=by.source, also=also)
    return await links_for(config, {person_id: [role] for person_id, role in PEOPLE.items()})


def _show(config: Settings, looks: list[Look]) -> None:
    rows = [[person_id, password_of(person_id), str(role)] for person_id, role in PEOPLE.items()]
    tell(Table(f"The console is open at {console_url(config)}", ["name", "password", "role"], rows))
    for look in looks:
        console.print(f"{console_url(config)}{look.path}\n  as {look.person_id}: {look.sentence}")
    console.print("Names and passwords stay good; two windows make two people. Ctrl-C ends.")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
